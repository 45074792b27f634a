// Code and cases are read by the one who wrote neither alone; a question is settled in the WorkItem's own Conversation.

import type { Play } from '../play.ts';
import type { Tasks } from './planning.ts';
import { askAbout } from './talk.ts';

export async function reviewWork(play: Play, tasks: Tasks): Promise<void> {
  const { cora, ben, cleo } = play.cast;
  const task = tasks.review;
  const reviewer = play.lane === 'A' ? ben : cleo;
  await play.tell('Review', '', 'heading');
  await task.offer(cora, [reviewer]);
  await task.accept(reviewer);
  await reviewer.atDesk(async () => {
    await task.start();
    await askAbout(play, task);
    await task.use({ modelTokens: 4_000, toolCalls: 1, financialMicrounits: 120_000 });
    const notes = `${play.plot.question}\n${play.plot.answer}.\n`;
    await task.publish(notes, [tasks.requirements, tasks.implementation, tasks.tests]);
    await task.submit([task.evidence(reviewer, 'reviewer_assessment', 'Read line by line against the requirements')]);
  });
  await task.acceptResult(cora, 'The notes answer the open question');
}
