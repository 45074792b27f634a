// The Group state document and the policy log: what a full member can check the authority with.
import type { OrganizationId } from '../../protocol/ids.ts';
import { stateDocument, stateHash, type StateDocument } from '../../wire/state-document.ts';
import type { PolicyLogRow, Reader } from '../../store/port.ts';

export interface ShownState {
  document: StateDocument;
  stateHash: string;
  throughSequence: number;
}

export async function shownState(reader: Reader, organizationId: OrganizationId, groupId: string): Promise<ShownState> {
  const aggregates = await reader.aggregateHashes(groupId);
  const document = stateDocument(organizationId, groupId, aggregates);
  const head = await reader.stream(groupId);
  return { document, stateHash: stateHash(document), throughSequence: head?.position ?? 0 };
}

export function shownPolicyEntry({ position, entryId, decision, actor, occurredAt, details, eventId }: PolicyLogRow) {
  return { position, entryId, decision, actor, occurredAt, details: JSON.parse(details) as unknown, eventId };
}
