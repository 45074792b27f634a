// message.retract: the author of a Message takes it back; it stays readable, with that beside it (commands.md 1.16).
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { amend, AMENDING } from '../amendments.ts';
import type { CommandKind } from '../decider.ts';
import { payload, reason } from './shapes.ts';

const schema = payload({ amendmentId: id, messageId: id, reason });

export const messageRetract: CommandKind<z.infer<typeof schema>> = {
  kind: 'message.retract',
  payload: schema,
  ...AMENDING,

  decide(request, view, { now }) {
    // The normative document has no Message without content, and of a retraction there is nothing to say but why.
    const content = [{ type: 'text' as const, text: request.payload.reason }];
    return amend(request, { eventKind: 'message.retracted', kind: 'retraction', content }, view, now);
  },
};
