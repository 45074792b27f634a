// The work is cut up: a worker proposes, the coordinator authorizes five WorkItems with their dependencies.

import { randomUUID } from 'node:crypto';
import type { Attempt, Play } from '../play.ts';
import { itemsOf, type ItemName } from '../plot.ts';
import { Task } from '../task.ts';

export type Tasks = Readonly<Record<Exclude<ItemName, 'correction'>, Task>>;

export async function planWork(play: Play): Promise<Tasks> {
  const { cora, ada } = play.cast;
  await play.tell('Planning', '', 'heading');
  if (play.lane === 'B') await renewCoordination(play);
  const tasks = {} as Record<ItemName, Task>;
  for (const item of itemsOf(play.lane)) {
    const task = new Task(
      play,
      item,
      item.after.map((name) => tasks[name]),
    );
    tasks[item.name] = task;
    if (item.name === 'tests') {
      const proposalId = `urn:uuid:${randomUUID()}`;
      const proposal = { proposalId, contract: task.contract };
      await play.does(ada, 'proposes that tests become a WorkItem of their own', 'work.propose', proposal);
      await task.authorize(cora, proposalId);
    } else {
      await task.authorize(cora);
    }
  }
  return tasks;
}

/** A coordinator acts under a lease and an epoch, as everybody who can be replaced does. */
async function renewCoordination(play: Play): Promise<void> {
  const { cora } = play.cast;
  const kind = 'mission.renew_coordinator';
  const payload = { leaseSeconds: 1_800 };
  const attempt: Attempt = { tries: 'under a Coordinator Epoch that is not hers', meets: 'AUTH_STALE_COORDINATOR' };
  await play.mayNot(cora, attempt, kind, payload, { epochs: { coordinatorEpoch: 2 } });
  await play.does(cora, 'renews her lease as coordinator', kind, payload);
}
