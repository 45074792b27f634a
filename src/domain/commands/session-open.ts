// session_open: the identity service gives an Agent a new session, and the former one is over (commands.md 2.2, (k)).
import type { z } from 'zod';
import { id } from '../../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import type { AgentCardAggregate } from '../aggregates.ts';
import type { CommandKind } from '../decider.ts';
import { activeItemLeaseReads, activeItemsRead, groupsOfActiveItems, interruptAll } from '../interruptions.ts';
import { one } from '../reads.ts';
import { payload } from './shapes.ts';

const schema = payload({ agentId: id });

export type SessionOpenPayload = z.infer<typeof schema>;

export const sessionOpen: CommandKind<SessionOpenPayload> = {
  kind: 'ext.missionweaveprotocol.identity.session_open',
  payload: schema,
  actors: ['service'],
  locks: { actor: 'exclusive' },
  group: 'none',

  lockActor: ({ agentId }) => ({ type: 'agent', id: agentId }),
  moreGroups: ({ payload }, view) => groupsOfActiveItems(view, payload.agentId),
  revision: ({ payload }, view) => view.get('session', payload.agentId)?.sessionEpoch ?? 0,

  reads: ({ payload }) => [
    one('agent_card', payload.agentId),
    one('session', payload.agentId),
    activeItemsRead(payload.agentId),
  ],
  moreReads: ({ payload }, view) => activeItemLeaseReads(view, payload.agentId),

  decide({ payload: { agentId } }, view, context) {
    const refusal = checkCard(view.get('agent_card', agentId));
    if (refusal) return refusal;
    const sessionEpoch = (view.get('session', agentId)?.sessionEpoch ?? 0) + 1;
    const revoked = interruptAll(view, agentId, { reason: 'session_replaced', sessionEpoch }, context);
    const opened = {
      kind: 'ext.missionweaveprotocol.identity.session_opened',
      payload: { agentId, sessionEpoch },
    };
    return { events: [...revoked, opened], primary: revoked.length };
  },
};

/** A Card past its end still lets its Agent come back and hand over; a revoked one does not. */
function checkCard(card: AgentCardAggregate | undefined): Refusal | undefined {
  if (!card) return refuse('INVALID_COMMAND', 'the Agent has no registered Agent Card');
  if (card.status !== 'revoked') return undefined;
  return refuse('AUTH_FORBIDDEN', "the Agent's Card is revoked");
}
