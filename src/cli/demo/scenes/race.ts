// Several candidates accept one offer at the same moment, each more than once: one becomes the owner, by one step of the
// Ownership Epoch, and everybody else learns that the item is taken.

import { randomInt } from 'node:crypto';
import { canonicalText } from '../../../wire/canonical.ts';
import type { Actor } from '../actor.ts';
import { StoryStopped } from '../checks.ts';
import { answerOf, type Attempt, type Play } from '../play.ts';
import type { Task } from '../task.ts';

const COPIES = 3;

export async function raceFor(play: Play, task: Task, candidates: readonly Actor[]): Promise<void> {
  await task.offer(play.cast.cora, candidates);
  // Whose requests leave first is drawn, so that not always the same candidate wins.
  const drawn = randomInt(2) === 0 ? candidates : [...candidates].reverse();
  const results = await Promise.all(drawn.map((candidate) => acceptAtOnce(play, task, candidate)));
  const winners = results.filter(({ answers }) => answers.length > 0);
  const winner = winners[0];
  const sends = candidates.length * COPIES;
  play.checks.equal(`${play.lane}: ${sends} acceptances of ${task.name} at once make one owner`, winners.length, 1);
  if (winner === undefined) throw new StoryStopped(`somebody owns ${task.name}`);

  const first = winner.answers.find(({ duplicate }) => !duplicate) ?? winner.answers[0];
  if (first === undefined) throw new StoryStopped(`the winner of ${task.name} has a receipt`);
  task.owned(winner.actor, first);
  play.checks.equal(`${play.lane}: one step of the Ownership Epoch of ${task.name}`, task.ownershipEpoch, 1);
  const receipts = new Set(winner.answers.map(({ receipt }) => canonicalText(receipt)));
  const found = { answers: winner.answers.length, receipts: receipts.size };
  play.checks.equal(`${play.lane}: the winner's copies have one receipt`, found, { answers: COPIES, receipts: 1 });
  await play.tell(`wins ${task.name}: ${sends} acceptances at once, one owner`, winner.actor.name, 'good');
  for (const loser of results.filter((result) => result !== winner)) {
    const codes = [...new Set(loser.codes)].join(' and ');
    const attempt: Attempt = { tries: `for ${task.name} too, ${COPIES} times`, meets: 'WORK_ALREADY_OWNED' };
    await play.refusal(loser.actor, attempt, codes);
  }
}

async function acceptAtOnce(play: Play, task: Task, candidate: Actor) {
  const { groupId } = play;
  const command = candidate.sign({ kind: 'work.accept_offer', groupId, payload: task.acceptance, ...task.line });
  const outcomes = await Promise.all(Array.from({ length: COPIES }, () => candidate.send(command)));
  return {
    actor: candidate,
    answers: outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : [])),
    codes: outcomes.map(answerOf),
  };
}
