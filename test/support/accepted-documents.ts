// What an accepted decision would sign and store, checked as the pipeline would find out: every Event fits its schema and
// has a canonical form, and so do the normative documents inside it.
import { checkDocument, type DocumentName } from '../../src/protocol/documents/catalogue.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { hashOf } from './signed-documents.ts';

const SERVICE: Principal = { type: 'service', id: 'urn:test:service:authority' };

/** Payload members of Events and the documents that they hold. */
const DOCUMENTS: Readonly<Record<string, DocumentName>> = {
  mission: 'mission',
  group: 'group',
  conversation: 'conversation',
  memberships: 'membership',
  message: 'message',
  workItem: 'work-item',
  coordinatorLease: 'lease',
  lease: 'lease',
  ownershipLease: 'lease',
  executionLease: 'lease',
  blockedLease: 'lease',
  closedLeases: 'lease',
  approval: 'approval',
  artifact: 'artifact',
  evidence: 'evidence',
  card: 'agent-card',
  contextPackage: 'context-package',
};

/** Sentences; empty when all is well. */
export function faultsOf({ events, policyLog = [] }: Accepted, actor: Principal): string[] {
  const faults: string[] = [];
  const check = (where: string, name: DocumentName, value: unknown) => {
    const found = checkDocument(name, value);
    if (!found.valid) faults.push(`${where}: ${found.fault}`);
  };
  events.forEach((draft, position) => {
    const { kind, groupId, aggregateRevision, workItemId, conversationId, payload } = draft;
    const event = {
      protocolVersion: '0.1',
      eventId: 'urn:uuid:00000000-0000-4000-8000-000000000000',
      ...(groupId !== undefined && { groupId, sequence: position + 1, aggregateRevision }),
      kind,
      actor: draft.actor ?? actor,
      cause: { type: 'command', id: 'urn:test:action' },
      correlationId: 'urn:test:correlation',
      ...(conversationId !== undefined && { conversationId }),
      ...(workItemId !== undefined && { workItemId }),
      occurredAt: '2026-11-29T12:00:00.000Z',
      acceptedBy: SERVICE,
      commandHash: hashOf('0'),
      payload,
      signature: { algorithm: 'Ed25519', keyId: 'urn:test:key', createdAt: '2026-11-29T12:00:00.000Z', value: 'AAAA' },
    };
    canonicalText(event);
    check(kind, 'event', event);
    for (const [member, name] of Object.entries(DOCUMENTS)) {
      const value = payload[member];
      if (value === undefined) continue;
      for (const document of Array.isArray(value) ? value : [value]) check(`${kind} ${member}`, name, document);
    }
  });
  for (const { details, decision } of policyLog) {
    canonicalText(details);
    if (decision.length < 1 || decision.length > 4_000) faults.push('a policy decision of no valid length');
  }
  return faults;
}
