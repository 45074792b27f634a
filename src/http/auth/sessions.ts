// Opens an Agent's session as the tenant's identity service: a real signed Command through the authority (commands.md
// (k)). The epoch is whatever the accepted Event says.
import type { Authority, RefusedSubmission, ServiceSigners } from '../../authority/ports.ts';
import type { OrganizationRow, OrganizationStore } from '../../store/port.ts';
import { signDocument } from '../../trust/signing.ts';
import { canonicalBytes } from '../../wire/canonical.ts';

export interface SessionParts {
  organizations: OrganizationStore;
  authority: Authority;
  signers: ServiceSigners;
  /** A fresh `urn:uuid:` id. */
  newId: () => string;
  requestId: string;
}

export const SESSION_OPEN_KIND = 'ext.missionweaveprotocol.identity.session_open';
const SESSION_OPENED_KIND = 'ext.missionweaveprotocol.identity.session_opened';

export type SessionOpening = { opened: true; sessionEpoch: number } | ({ opened: false } & RefusedSubmission);

/** `issuedAt` is the database's own time, so freshness cannot fail for a host clock that runs off. */
export async function openSession(
  { organizations, authority, signers, newId, requestId }: SessionParts,
  organization: OrganizationRow,
  agentId: string,
): Promise<SessionOpening> {
  const service = organization.identity;
  const actionId = newId();
  const issuedAt = await organizations.now();
  const signer = await signers.signerOf(organization, service, issuedAt);
  const { document } = signDocument(
    'command',
    {
      protocolVersion: '0.1',
      actionId,
      actor: service,
      kind: SESSION_OPEN_KIND,
      correlationId: actionId,
      issuedAt,
      payload: { agentId },
    },
    signer,
  );
  const submission = await authority.submit(organization, canonicalBytes(document), { principal: service, requestId });
  if (!submission.accepted) return { opened: false, ...submission };
  return { opened: true, sessionEpoch: epochIn(submission.events, agentId) };
}

function epochIn(events: readonly string[], agentId: string): number {
  for (const body of events) {
    const { kind, payload } = JSON.parse(body) as { kind: string; payload: Record<string, unknown> };
    if (kind !== SESSION_OPENED_KIND || payload['agentId'] !== agentId) continue;
    if (typeof payload['sessionEpoch'] === 'number') return payload['sessionEpoch'];
  }
  throw new Error('an accepted session_open showed no session_opened Event');
}
