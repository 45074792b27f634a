// The owner's change request becomes a WorkItem of its own; the corrected code takes the old one's place.

import type { Play } from '../play.ts';
import { CHANGE_REQUEST, CORRECTION } from '../plot.ts';
import { runCases } from '../run-cases.ts';
import { Task } from '../task.ts';
import type { Tasks } from './planning.ts';

export async function correct(play: Play, tasks: Tasks): Promise<Task> {
  const { cora, ada } = play.cast;
  await play.tell('Correction', '', 'heading');
  const task = new Task(play, CORRECTION, [tasks.integration]);
  await task.authorize(cora);
  await task.offer(cora, [ada]);
  await task.accept(ada);
  await ada.atDesk(async () => {
    await task.start();
    await task.use({ modelTokens: 3_000, toolCalls: 2, financialMicrounits: 150_000 });
    const cases = [...play.plot.cases, CHANGE_REQUEST.missingCase];
    const { passed, failed } = await runCases(CHANGE_REQUEST.implementation, cases);
    play.checks.mustEqual('B: the corrected code passes the old cases and the new one', failed, []);
    await task.publish(CHANGE_REQUEST.implementation, [tasks.requirements, tasks.implementation]);
    const method = `${passed.length} of ${cases.length} cases pass, credit notes among them`;
    await play.tell(method, ada.name, 'good');
    await task.submit([task.evidence(ada, 'deterministic_test', method, { passed, failed })]);
  });
  await task.acceptResult(cora, 'Old and new cases run again');
  return task;
}
