// People join a mission, by its coordinator's or owner's Command and with an epoch of their own.

import { addSeconds, timestampFromMillis } from '../../../protocol/timestamps.ts';
import { signContextPackage } from '../../../worker/documents.ts';
import type { Actor } from '../actor.ts';
import type { Attempt, Play } from '../play.ts';
import { catchUp } from './catch-up.ts';
import { messageOf } from './talk.ts';

/** The workers join; in B one comes late, on a Context Package, and stays provisional until it takes work. */
export async function joinMission(play: Play): Promise<void> {
  const { olga, otto, cora, ada, ben, cleo } = play.cast;
  const asWorker = { roles: ['worker'], visibilityAfterSequence: 0 };
  const onlooker = { principal: otto.principal, roles: ['observer'], visibilityAfterSequence: 0 };
  await play.does(cora, `takes ${ada.name} in as a worker`, 'membership.change', {
    principal: ada.principal,
    ...asWorker,
  });
  if (play.lane === 'A') {
    await play.does(cora, `takes ${ben.name} in as a worker`, 'membership.change', {
      principal: ben.principal,
      ...asWorker,
    });
    await play.does(olga, `lets ${otto.name} look on`, 'membership.change', onlooker);
  } else {
    const provisional = {
      principal: cleo.principal,
      ...asWorker,
      provisional: true,
      provisionalExpiresAt: addSeconds(timestampFromMillis(Date.now()), 600),
      contextPackage: await contextFor(play, cora),
    };
    const say = `takes ${cleo.name} in provisionally, with a signed Context Package`;
    await play.does(cora, say, 'membership.change', provisional);
  }
  const joined = play.lane === 'A' ? [ada, ben, otto] : [ada, cleo];
  for (const actor of joined) await actor.lookAround();
  if (play.lane === 'B') {
    const attempt: Attempt = { tries: 'to speak while she is provisional', meets: 'MEMBERSHIP_REQUIRED' };
    await play.mayNot(cleo, attempt, 'message.post', messageOf(play, 'Hello everybody'));
  }
}

async function contextFor(play: Play, author: Actor) {
  const events = await catchUp(play, author);
  const eventIds = events.map(({ eventId }) => eventId);
  return signContextPackage(author.key, {
    missionId: play.missionId,
    groupId: play.groupId,
    sourceEventRange: { fromSequence: 1, toSequence: eventIds.length, eventIds },
    summary: `${play.plot.objective}. ${play.plot.done}.`,
    constraints: ['One active WorkItem to an agent'],
  });
}
