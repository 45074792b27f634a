// The same Agent Card once more, because the first answer was lost: it is answered as it was the first time.
import type { AgentCardAggregate } from '../../domain/aggregates.ts';
import { one } from '../../domain/reads.ts';
import type { AgentCard } from '../../protocol/documents/agent-card.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { canonicalText } from '../../wire/canonical.ts';

/** JSON texts, as stored. */
export interface RegisteredCard {
  agentCard: string;
  receipt: string;
}

/** Undefined when the current Card of this Agent says anything else. `isDated`: its `issuedAt` was given, and counts. */
export function repeatedCard(
  store: AuthorityStore,
  organizationId: OrganizationId,
  card: Omit<AgentCard, 'signature'>,
  { isDated }: { isDated: boolean },
): Promise<RegisteredCard | undefined> {
  return store.read(organizationId, async (reader) => {
    const { aggregates } = await reader.load([one('agent_card', card.agentId)]);
    const current = aggregates[0]?.document as AgentCardAggregate | undefined;
    const row = current && (await reader.document(current.signingHash));
    if (!row) return undefined;
    const { signature: _signature, ...stored } = JSON.parse(row.body) as AgentCard;
    const asked = isDated ? card : { ...card, issuedAt: stored.issuedAt };
    if (canonicalText(asked) !== canonicalText(stored)) return undefined;
    const command = await reader.command(row.commandHash);
    const receipt = command && (await reader.receipt(command));
    return receipt && { agentCard: row.body, receipt: receipt.body };
  });
}
