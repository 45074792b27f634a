// The first WorkItem of each mission: raced for, worked under a lease that is renewed, submitted and accepted.

import type { Attempt, Play } from '../play.ts';
import type { Tasks } from './planning.ts';
import { raceFor } from './race.ts';

export async function writeRequirements(play: Play, tasks: Tasks): Promise<void> {
  const { cora, ada, ben, cleo } = play.cast;
  const { requirements: task, implementation } = tasks;
  await play.tell('Requirements', '', 'heading');
  await raceFor(play, task, [ada, play.lane === 'A' ? ben : cleo]);
  await implementation.offer(cora, [ada]);
  await implementation.accept(ada);
  if (play.lane === 'A') {
    const attempt: Attempt = { tries: 'to start the code before its requirements', meets: 'INVALID_STATE_TRANSITION' };
    const early = () => play.mayNot(ada, attempt, 'work.start', implementation.starting, implementation.line);
    await ada.atDesk(early);
  }
  await task.owner.atDesk(async () => {
    await task.start();
    await task.renew('drafting', ['outline']);
    await task.use({ modelTokens: 9_500, toolCalls: 3, financialMicrounits: 410_000 });
    await task.publish(play.plot.requirements, []);
    await task.submit([task.evidence(task.owner, 'business_rule', 'Each rule read for one observable outcome')]);
  });
  await task.acceptResult(cora, 'Read against the objective');
}
