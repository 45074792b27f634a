// Artifacts, Evidence, Approvals and Agent Cards: shown as their signers signed them, not as the authority noted them.
import type {
  AgentCardAggregate,
  ApprovalAggregate,
  ArtifactAggregate,
  EvidenceAggregate,
} from '../../domain/aggregates.ts';
import { one } from '../../domain/reads.ts';
import type { Reader } from '../../store/port.ts';

export async function shownArtifacts(reader: Reader, artifacts: ArtifactAggregate[]): Promise<unknown[]> {
  const documents = await signed(reader, artifacts);
  return artifacts.map(({ signingHash }, position) => ({ artifact: documents[position], details: { signingHash } }));
}

export async function shownEvidence(reader: Reader, evidence: EvidenceAggregate[]): Promise<unknown[]> {
  const documents = await signed(reader, evidence);
  return evidence.map(({ signingHash }, position) => ({ evidence: documents[position], details: { signingHash } }));
}

export async function shownApprovals(reader: Reader, approvals: ApprovalAggregate[]): Promise<unknown[]> {
  const documents = await signed(reader, approvals);
  return approvals.map(({ signingHash, scope }, position) => ({
    approval: documents[position],
    details: { signingHash, ...(scope && { scope }) },
  }));
}

/** The current Card; undefined for an Agent without one. */
export async function shownAgentCard(reader: Reader, agentId: string): Promise<unknown> {
  const { aggregates } = await reader.load([one('agent_card', agentId)]);
  const card = aggregates[0]?.document as AgentCardAggregate | undefined;
  if (!card) return undefined;
  const [agentCard] = await signed(reader, [card]);
  return { agentCard, details: { signingHash: card.signingHash } };
}

/** null where the document was erased. One after the other: they share one connection and one snapshot. */
async function signed(reader: Reader, aggregates: { signingHash: string }[]): Promise<unknown[]> {
  const documents: unknown[] = [];
  for (const { signingHash } of aggregates) {
    const row = await reader.document(signingHash);
    documents.push(row ? JSON.parse(row.body) : null);
  }
  return documents;
}
