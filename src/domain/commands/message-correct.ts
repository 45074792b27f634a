// message.correct: the author of a Message says it anew; the original stays (commands.md 1.15).
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { amend, AMENDING } from '../amendments.ts';
import type { CommandKind } from '../decider.ts';
import { contentParts, messageContent } from '../messages.ts';
import { payload, reason } from './shapes.ts';

const schema = payload({ amendmentId: id, messageId: id, reason, replacementContent: messageContent });

export const messageCorrect: CommandKind<z.infer<typeof schema>> = {
  kind: 'message.correct',
  payload: schema,
  ...AMENDING,

  decide(request, view, { now }) {
    const content = contentParts(request.payload.replacementContent);
    return amend(request, { eventKind: 'message.corrected', kind: 'correction', content }, view, now);
  },
};
