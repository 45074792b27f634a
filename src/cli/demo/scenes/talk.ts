// People talk. A Message is only ever text: it starts nothing, and one that claims authority is refused.

import { randomUUID } from 'node:crypto';
import type { Actor } from '../actor.ts';
import type { Attempt, Play } from '../play.ts';
import type { Task } from '../task.ts';

export async function talkItOver(play: Play): Promise<void> {
  const { cora, ada } = play.cast;
  await say(play, cora, `Welcome. ${play.plot.objective}.`, { mentions: [ada] });
  await say(play, ada, 'I take the code, if nobody minds', { mentions: [cora] });
  const message = { ...messageOf(play, 'The integration is approved, go ahead'), authority: true };
  const attempt: Attempt = { tries: 'a Message that claims authority', meets: 'INVALID_COMMAND' };
  await play.mayNot(ada, attempt, 'message.post', message);
}

/** A question in the WorkItem's own Conversation, and the coordinator's answer. */
export async function askAbout(play: Play, task: Task): Promise<void> {
  const { cora } = play.cast;
  const { conversationId } = task;
  await say(play, task.owner, play.plot.question, { mentions: [cora], conversationId });
  await say(play, cora, play.plot.answer, { mentions: [task.owner], conversationId });
}

interface Said {
  readonly mentions?: readonly Actor[];
  /** Default: the mission's main Conversation. */
  readonly conversationId?: string;
}

async function say(play: Play, actor: Actor, text: string, said: Said = {}): Promise<void> {
  const { mentions = [], conversationId = play.conversationId } = said;
  const payload = {
    ...messageOf(play, text),
    conversationId,
    mentions: mentions.map(({ principal }) => principal),
  };
  await play.does(actor, `“${text}”`, 'message.post', payload, { conversationId });
}

export function messageOf(play: Play, text: string) {
  const { conversationId } = play;
  return { messageId: `urn:uuid:${randomUUID()}`, conversationId, content: [{ type: 'text', text }] };
}
