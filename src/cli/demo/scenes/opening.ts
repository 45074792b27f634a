// A mission is declared. In A the declaration goes out five times at once, in B its Action ID is used a second time for
// something else.

import { canonicalText } from '../../../wire/canonical.ts';
import type { Accepted } from '../../../worker/answers.ts';
import type { SignedCommand } from '../../../worker/commands.ts';
import { StoryStopped } from '../checks.ts';
import { DEPLOY, inTwoHours, MISSION_BUDGET } from '../contract.ts';
import { catchUp } from './catch-up.ts';
import { answerOf, eventIn, type Attempt, type Play } from '../play.ts';

const COPIES = 5;

export async function declareMission(play: Play): Promise<void> {
  const { olga, cora } = play.cast;
  await play.tell('The mission begins', '', 'heading');
  const { missionId, groupId, plot } = play;
  const payload = {
    missionId,
    groupId,
    coordinatorId: cora.principal.id,
    title: plot.title,
    objective: plot.objective,
    definitionOfDone: [{ criterionId: 'done', description: plot.done, evidenceRequired: ['human_review'] }],
    budget: MISSION_BUDGET,
    deadline: inTwoHours(),
    approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true, policyVersion: '1.0.0' },
    permissions: [DEPLOY.operation],
    coordinatorLeaseSeconds: 900,
  };
  const command = olga.sign({ kind: 'mission.create', groupId, payload });
  const copies = play.lane === 'A' ? COPIES : 1;
  const outcomes = await Promise.all(Array.from({ length: copies }, () => olga.send(command)));
  const answers = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []));
  const first = answers.find(({ duplicate }) => !duplicate);
  if (first === undefined) {
    play.checks.equal(`${play.lane}: the mission is created`, outcomes.map(answerOf), ['accepted']);
    throw new StoryStopped('the mission is created');
  }
  play.conversationId = eventIn(first, 'mission.created').conversationId ?? '';
  await play.tell(`declares the mission and names ${cora.name} its coordinator`, olga.name);

  if (copies > 1) {
    await checkCopies(play, command, answers);
  } else {
    const other = { ...payload, title: 'Something else under the same Action ID' };
    const attempt: Attempt = { tries: 'the same Action ID for other content', meets: 'ACTION_ID_COLLISION' };
    await play.mayNot(olga, attempt, 'mission.create', other, { actionId: command.actionId });
  }
  await catchUp(play, cora);
}

/** However often it was sent: one Event, one receipt, the same bytes whenever it is asked for. */
async function checkCopies(play: Play, command: SignedCommand, answers: readonly Accepted[]): Promise<void> {
  const { olga } = play.cast;
  const receipts = new Set(answers.map(({ receipt }) => canonicalText(receipt)));
  const duplicates = answers.filter(({ duplicate }) => duplicate).length;
  const found = { answers: answers.length, receipts: receipts.size, duplicates };
  const claim = `the same Command ${COPIES} times at once: one effect, ${COPIES} equal receipts`;
  const passed = play.checks.equal(`A: ${claim}`, found, { answers: COPIES, receipts: 1, duplicates: COPIES - 1 });
  const again = await olga.send(command);
  const same = again.ok && again.value.duplicate && receipts.has(canonicalText(again.value.receipt));
  play.checks.holds('A: the same Command once more answers the same receipt', same, answerOf(again));
  const kept = await olga.client.readText(`/receipts/${encodeURIComponent(command.actionId)}`);
  const text = kept.ok ? kept.value : answerOf(kept);
  const sameBytes = [...receipts].every((receipt) => text.includes(`"receipt":${receipt}`));
  play.checks.holds('A: the receipt is kept byte for byte', sameBytes, text);
  const group = await play.readAs(olga).group();
  play.checks.equal('A: six sends left one Event', group.ok && group.value.headSequence, 1);
  await play.tell(claim, olga.name, passed ? 'good' : 'bad');
}
