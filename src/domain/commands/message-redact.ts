// message.redact: the MissionOwner or the Coordinator withholds a Message, and what corrected or retracted it, from everyone
// but auditors; nothing is destroyed, and no id and no sequence changes (commands.md 1.17, MWP-MSN-023, MWP-MSN-009c).
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { amendmentEvent, AMENDING, amendmentReads, checkAmendable, noSuchMessage, targetOf } from '../amendments.ts';
import type { CommandKind, PolicyEntryDraft } from '../decider.ts';
import { checkMissionNotTerminal, checkOwnerOrCoordinator, coordinatorReads } from '../roles.ts';
import { payload, reason } from './shapes.ts';

const schema = payload({ amendmentId: id, messageId: id, reason });

export const messageRedact: CommandKind<z.infer<typeof schema>> = {
  kind: 'message.redact',
  payload: schema,
  ...AMENDING,
  withholds: true,
  reads: (request) => [...coordinatorReads(request.command), ...amendmentReads(request)],

  decide(request, view, { now }) {
    const { command, payload } = request;
    const refusal = checkOwnerOrCoordinator(command, view, now) ?? checkMissionNotTerminal(command, view);
    if (refusal) return refusal;
    const target = targetOf(command, payload, view);
    if (!target) return noSuchMessage();
    const early = checkAmendable(target, payload, view);
    if (early) return early;
    // As with a retraction there is nothing to say but why.
    const content = [{ type: 'text' as const, text: payload.reason }];
    const amendment = { eventKind: 'message.redacted', kind: 'redaction', content } as const;
    const { groupId, messageId } = target;
    // Ids and no text: the reason stands in the amendment, where it can be erased (decision 26).
    const entry: PolicyEntryDraft = {
      groupId,
      decision: 'a Message is redacted',
      details: { rule: 'MWP-MSN-023', messageId, amendmentId: payload.amendmentId },
      draft: 0,
    };
    return {
      events: [amendmentEvent(request, amendment, target, view, now)],
      policyLog: [entry],
      withholds: { cause: 'redacted', reasonCode: 'message_redacted', message: target, draft: 0 },
    };
  },
};
