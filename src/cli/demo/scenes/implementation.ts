// Ada writes the code of both missions, but may execute one WorkItem at a time, over all Groups. She begins in A; her
// start in B is refused; she leaves a checkpoint in A, does B, and resumes A under a new lease. The old lease is dead.

import type { Cues } from '../cue.ts';
import type { Attempt, Play } from '../play.ts';
import { RENEW, type Task } from '../task.ts';
import type { Tasks } from './planning.ts';

export async function implementFirst(play: Play, tasks: Tasks, cues: Cues, signal: AbortSignal): Promise<void> {
  const { ada } = play.cast;
  const task = tasks.implementation;
  await cues.secondIsReady.wait(signal);
  await play.tell('Implementation', '', 'heading');
  await ada.atDesk(async () => {
    await task.start();
    await task.use({ modelTokens: 12_000, toolCalls: 5, financialMicrounits: 640_000 });
    cues.firstIsActive.give();
    await cues.secondWasTried.wait(signal);
    const checkpoint = task.checkpoint('sliding window sketched', 'the wait time');
    const payload = { ...task.underLease, checkpoint, resumeWithinSeconds: 600 };
    await play.does(ada, 'leaves a checkpoint, to make room for mission B', 'work.checkpoint', payload, task.line);
  });
  const oldLease = task.underLease;
  await ada.atDesk(async () => {
    await task.start('resumes from the checkpoint, under a new lease');
    const late = { ...oldLease, leaseSeconds: 300 };
    const attempt: Attempt = { tries: 'to renew the lease from before the checkpoint', meets: 'WORK_LEASE_EXPIRED' };
    await play.mayNot(ada, attempt, RENEW, late, task.line);
    await deliver(play, task, tasks);
  });
  await task.acceptResult(play.cast.cora, 'Loaded and run once');
}

export async function implementSecond(play: Play, tasks: Tasks, cues: Cues, signal: AbortSignal): Promise<void> {
  const { ada } = play.cast;
  const task = tasks.implementation;
  cues.secondIsReady.give();
  await cues.firstIsActive.wait(signal);
  await play.tell('Implementation', '', 'heading');
  const attempt: Attempt = { tries: 'to start here too, while she works in mission A', meets: 'RATE_LIMITED' };
  await play.mayNot(ada, attempt, 'work.start', task.starting, task.line);
  cues.secondWasTried.give();
  await ada.atDesk(async () => {
    await task.start();
    await task.use({ modelTokens: 8_000, toolCalls: 4, financialMicrounits: 380_000 });
    await deliver(play, task, tasks);
  });
  await task.acceptResult(play.cast.cora, 'Loaded and run once');
}

async function deliver(play: Play, task: Task, tasks: Tasks): Promise<void> {
  await task.publish(play.plot.implementation, [tasks.requirements]);
  await task.submit([task.evidence(task.owner, 'deterministic_test', 'The module was loaded and called once')]);
}
