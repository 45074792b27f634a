// The work is cut up: a worker proposes, the coordinator authorizes five WorkItems with their dependencies.

import { randomUUID } from 'node:crypto';
import type { Play } from '../play.ts';
import { itemsOf, type ItemName } from '../plot.ts';
import { Task } from '../task.ts';

export type Tasks = Readonly<Record<Exclude<ItemName, 'correction'>, Task>>;

export async function planWork(play: Play): Promise<Tasks> {
  const { cora, ada } = play.cast;
  await play.tell('The work is cut up', '', 'heading');
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
