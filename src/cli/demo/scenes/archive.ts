// The last scene: the Group is archived on the authority's own signed snapshot of its last state. From then on everybody
// reads what they could read, and nobody writes.

import type { SnapshotItem } from '../../../worker/answers.ts';
import { answerOf, eventIn, type Attempt, type Play } from '../play.ts';
import { StoryStopped } from '../checks.ts';
import { messageOf } from './talk.ts';

export const ARCHIVE = 'ext.missionweaveprotocol.core.group_archive';

export async function archiveGroup(play: Play): Promise<void> {
  const { arno, cora, olga } = play.cast;
  await play.tell('Archive', '', 'heading');
  const taken = await play.readAs(olga).takeSnapshot();
  if (!taken.ok) throw new StoryStopped(`${olga.name} takes a snapshot (${answerOf(taken)})`);
  const { snapshot } = taken.value;
  await play.tell(`takes a signed snapshot of sequence 1 to ${snapshot.throughSequence}`, olga.name);
  const owner: Attempt = { tries: 'to archive the Group, as its owner', meets: 'AUTH_FORBIDDEN' };
  await play.mayNot(olga, owner, ARCHIVE, { snapshot });
  const answer = await play.does(arno, 'archives the Group on it', ARCHIVE, { snapshot });
  checkNamed(play, taken.value, eventIn(answer, 'group.snapshot.created').payload);
  const again: Attempt = { tries: 'to archive it again', meets: 'INVALID_STATE_TRANSITION' };
  await play.mayNot(arno, again, ARCHIVE, { snapshot });
  const late: Attempt = { tries: 'to speak into the archive', meets: 'INVALID_STATE_TRANSITION' };
  await play.mayNot(cora, late, 'message.post', messageOf(play, 'One last thing'));
  await checkReadable(play, snapshot.snapshotId);
}

function checkNamed({ checks, lane }: Play, { snapshot, details }: SnapshotItem, told: object): void {
  const { snapshotId, throughSequence, stateHash } = snapshot;
  const expected = { snapshotId, throughSequence, stateHash, snapshotHash: details.snapshotArtifactHash };
  checks.equal(`${lane}: the Group is archived on that snapshot`, told, expected);
}

async function checkReadable(play: Play, archiveSnapshotId: string): Promise<void> {
  const { olga, cora, ada } = play.cast;
  for (const member of [olga, cora, ada]) {
    const read = await play.readAs(member).group();
    const found = read.ok ? [read.value.group.state, read.value.group.archiveSnapshotId] : answerOf(read);
    play.checks.equal(`${play.lane}: ${member.name} goes on reading`, found, ['archived', archiveSnapshotId]);
  }
  await play.tell(`Group ${play.lane} is archived`, '', 'good');
}
