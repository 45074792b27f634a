// Tests are written while the code is, then wait for it: blocked by their worker, unblocked by the coordinator. In A the
// worker's process restarts in between; in B it tries to spend more than its contract has.

import type { Actor } from '../actor.ts';
import { StoryStopped } from '../checks.ts';
import type { Attempt, Play } from '../play.ts';
import { runCases } from '../run-cases.ts';
import { RENEW, USE, type Task } from '../task.ts';
import type { Tasks } from './planning.ts';

/** Until the cases are written and the worker has nothing to run them against. */
export async function writeTests(play: Play, task: Task): Promise<void> {
  const { cora, ben, cleo } = play.cast;
  const tester = play.lane === 'A' ? ben : cleo;
  await task.offer(cora, [tester]);
  await task.accept(tester);
  await tester.atDesk(async () => {
    await task.start();
    if (play.lane === 'A') await restart(play, task, tester);
    else await overspend(play, task, tester);
    await task.use({ modelTokens: 6_000, toolCalls: 2, financialMicrounits: 250_000 });
    const checkpoint = task.checkpoint(`${play.plot.cases.length} cases written`, 'run them');
    const reason = 'There is no code to run the cases against yet';
    const payload = { ...task.underLease, reason, checkpoint, blockedLeaseSeconds: 600 };
    await play.does(tester, 'blocks: no code to run the cases against yet', 'work.block', payload, task.line);
  });
}

/** Once the code is verified. */
export async function runTests(play: Play, task: Task, tasks: Tasks): Promise<void> {
  const { workItemId } = task;
  const payload = { workItemId, resolution: 'The implementation is verified' };
  await play.does(play.cast.cora, 'unblocks tests: the code is there', 'work.unblock', payload, task.line);
  await task.owner.atDesk(async () => {
    await task.start('resumes tests');
    const { cases, implementation } = play.plot;
    const { passed, failed } = await runCases(implementation, cases);
    play.checks.mustEqual(`${play.lane}: the delivered code passes the delivered cases`, failed, []);
    await task.publish(JSON.stringify(cases), [tasks.requirements, tasks.implementation]);
    const method = `${passed.length} of ${cases.length} cases pass`;
    await play.tell(method, task.owner.name, 'good');
    const evidence = task.evidence(task.owner, 'deterministic_test', method, { passed, failed });
    await task.submit([evidence]);
  });
  await task.acceptResult(play.cast.cora, 'Cases run again, same result');
}

/** A new session fences the old one: its Commands are stale, and what it executed went back to the queue. */
async function restart(play: Play, task: Task, tester: Actor): Promise<void> {
  const { sessionEpoch } = tester.standing.epochsIn(play.groupId);
  if (sessionEpoch === undefined) throw new StoryStopped(`${tester.name} has a session`);
  await tester.arrive();
  await play.tell('restarts and opens a second session', tester.name);
  const late = { ...task.underLease, leaseSeconds: 300 };
  const line = { ...task.line, epochs: { sessionEpoch } };
  const attempt: Attempt = { tries: 'to go on in the session from before', meets: 'AUTH_STALE_SESSION' };
  await play.mayNot(tester, attempt, RENEW, late, line);
  const item = await play.readAs(tester).workItem(task.workItemId);
  const state = item.ok && item.value.workItem.state;
  play.checks.equal('A: the restart put the WorkItem back into the queue, still owned', state, 'queued');
  await task.start('starts tests again, in the new session');
}

async function overspend(play: Play, task: Task, tester: Actor): Promise<void> {
  const usageDelta = { modelTokens: 60_001 };
  const payload = { ...task.underLease, usageDelta };
  const attempt: Attempt = { tries: 'to book one token more than the contract has', meets: 'BUDGET_EXCEEDED' };
  await play.mayNot(tester, attempt, USE, payload, task.line);
}
