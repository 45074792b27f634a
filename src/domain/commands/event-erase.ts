// ext.mwp.retention.event_erase: an authorised service has the texts of a Message destroyed, with those of its corrections and
// retractions and the reason of its redaction, in any state of Mission and Group (decision 32, MWP-MSN-009c). What it accepts
// is that everybody gets renditions from now on; the bytes are taken out afterwards.
import { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import { ERASURE_REASONS, EVENT_ERASE, EVENT_ERASED } from '../../protocol/retention.ts';
import type { MessageAggregate } from '../aggregates.ts';
import { amendedConversationRead, amendedRevision, checkIsMessage, checkNotErased } from '../amendments.ts';
import { conversationOf, noSuchMessage, targetOf } from '../amendments.ts';
import type { Command, CommandKind, PolicyEntryDraft, Request } from '../decider.ts';
import { messageEvent } from '../messages.ts';
import { isHeld, type Policy } from '../policy.ts';
import { one, type Read } from '../reads.ts';
import { groupOf } from '../roles.ts';
import type { View } from '../view.ts';
import { payload } from './shapes.ts';

const schema = payload({ messageId: id, reasonCode: z.enum(ERASURE_REASONS) });
type EventErasePayload = z.infer<typeof schema>;

export const eventErase: CommandKind<EventErasePayload> = {
  kind: EVENT_ERASE,
  payload: schema,
  actors: ['service'],
  group: 'existing',
  archivedAllowed: true,
  withholds: true,

  revision: amendedRevision,
  reads: ({ payload }) => [one('message', payload.messageId)],
  moreReads: (request, view) => [...amendedConversationRead(request, view), ...redactionRead(request, view)],

  decide({ command, payload }, view, { policy }) {
    const early = checkNotHeld(policy, groupOf(command)) ?? checkNoExtensions(command);
    if (early) return early;
    const target = targetOf(command, payload, view);
    if (!target) return noSuchMessage();
    const refusal = checkIsMessage(target) ?? checkNotErased(target);
    if (refusal) return refusal;
    const { messageId, reasonCode } = payload;
    const entry: PolicyEntryDraft = {
      groupId: target.groupId,
      decision: 'a Message is erased',
      details: { rule: 'MWP-MSN-009c', messageId, reasonCode },
      draft: 0,
    };
    const redaction = redactionOf(target, view);
    return {
      events: [messageEvent(EVENT_ERASED, conversationOf(target, view), { messageId, reasonCode })],
      policyLog: [entry],
      withholds: { cause: 'erased', reasonCode, message: target, ...(redaction && { redaction }), draft: 0 },
    };
  },
};

/** The policy as it is now: a hold is there for what would be destroyed now, whenever that was signed. */
function checkNotHeld(policy: Policy, groupId: string): Refusal | undefined {
  if (!isHeld(policy, groupId)) return undefined;
  return refuse('AUTH_FORBIDDEN', 'a legal hold of the policy keeps what is in this Group');
}

/** They would stand in the Event, and nothing takes them out of there. */
function checkNoExtensions({ extensions = {} }: Command): Refusal | undefined {
  if (Object.keys(extensions).length === 0) return undefined;
  return refuse('INVALID_COMMAND', 'an erasure brings no extension: its words would stay');
}

function redactionRead({ command, payload }: Request<EventErasePayload>, view: View): Read[] {
  const amendmentId = targetOf(command, payload, view)?.redaction?.amendmentId;
  return amendmentId === undefined ? [] : [one('message', amendmentId)];
}

/** Its reason is a text that speaks of the Message. */
function redactionOf({ redaction }: MessageAggregate, view: View): MessageAggregate | undefined {
  return redaction && view.mustGet('message', redaction.amendmentId);
}
