// agent_card_registered: another version of an Agent's Card is the current one. Of the Organization's own log.
import type { AgentCard } from '../../protocol/documents/agent-card.ts';
import type { EventKind } from '../decider.ts';

interface AgentCardRegistered {
  agentId: string;
  /** Signing hash of the Card. */
  cardHash: string;
  /** As signed. */
  card: AgentCard;
  endedSessionEpoch?: number;
}

export const agentCardRegistered: EventKind<AgentCardRegistered> = {
  kind: 'ext.missionweaveprotocol.registry.agent_card_registered',
  erasable: ['card.displayName', 'card.description'],

  evolve(view, { payload: { agentId, cardHash, card, endedSessionEpoch } }) {
    view.set('agent_card', agentId, '', {
      agentId,
      cardVersion: card.cardVersion,
      status: card.status,
      capabilities: card.capabilities.map(({ id, version }) => ({ id, version })),
      maxConcurrency: card.maxConcurrency,
      issuedAt: card.issuedAt,
      ...(card.validUntil !== undefined && { validUntil: card.validUntil }),
      ...(endedSessionEpoch !== undefined && { endedSessionEpoch }),
      signingHash: cardHash,
    });
  },
};
