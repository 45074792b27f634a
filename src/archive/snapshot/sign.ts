// The signed Group Snapshot of what was gathered, verified and admitted like any Signed Document: the row and its record.
import type { GroupSnapshot } from '../../protocol/documents/group-snapshot.ts';
import type { AdmissionRow, OrganizationRow, OrganizationStore, SnapshotRow } from '../../store/port.ts';
import { admitOwn } from '../../trust/own-documents.ts';
import { linkEntry, type SnapshotLink } from '../../trust/snapshot-link.ts';
import { signDocument, type Signer } from '../../trust/signing.ts';
import { canonicalText, sha256Label } from '../../wire/canonical.ts';
import { stateHash } from '../../wire/state-document.ts';
import type { Gathered } from './gather.ts';

export interface SigningParts {
  organizations: Pick<OrganizationStore, 'keyEvidence'>;
  /** Of a key that is valid at that time. */
  signer: Signer;
  createdAt: string;
  newId: () => string;
}

export interface SignedSnapshot {
  row: SnapshotRow;
  admission: AdmissionRow;
}

/** Throws where the service's own key would not be believed: nothing unproven is stored. */
export async function signSnapshot(
  organization: OrganizationRow,
  gathered: Gathered,
  parts: SigningParts,
): Promise<SignedSnapshot> {
  const { organizationId, authority } = organization;
  const { head, document } = gathered;
  const { createdAt } = parts;
  const link = linkFor(organization, gathered);
  const entry = linkEntry(link, { entryId: parts.newId(), actor: authority, occurredAt: createdAt });
  const unsigned: Omit<GroupSnapshot, 'signature'> = {
    snapshotId: parts.newId(),
    groupId: head.streamId,
    throughSequence: head.position,
    eventIds: gathered.eventIds,
    stateHash: stateHash(document),
    policyLog: [entry, ...gathered.policyLog.entries],
    createdBy: { type: 'service', id: authority.id },
    createdAt,
  };
  const { text: body, signingHash } = signDocument('group-snapshot', unsigned, parts.signer);
  const row: SnapshotRow = {
    groupId: unsigned.groupId,
    position: link.position,
    snapshotId: unsigned.snapshotId,
    throughSequence: unsigned.throughSequence,
    signingHash,
    artifactHash: sha256Label(body),
    stateHash: unsigned.stateHash,
    packs: canonicalText(link.statePacks),
    createdAt,
    body,
  };
  const record = await admitOwn('group-snapshot', body, {
    organizationId,
    authority,
    keyId: parts.signer.keyId,
    admissionRecordId: parts.newId(),
    trustedAcceptedAt: createdAt,
    keyEvidence: (keyIds) => parts.organizations.keyEvidence(organizationId, keyIds),
  });
  const { protocolVersion: _version, organizationId: _organization, ...columns } = record;
  const where = { streamId: snapshotStream(row.groupId), revision: row.position };
  return { row, admission: { ...columns, ...where, record: canonicalText(record) } };
}

/** Where the admission records of a Group's snapshots stand: beside its stream, whose transitions count theirs. */
export function snapshotStream(groupId: string): string {
  return `snapshots ${groupId}`;
}

function linkFor({ organizationId }: OrganizationRow, { head, previous, packs, policyLog }: Gathered): SnapshotLink {
  const { revision, chainHash, logHash } = head;
  const { after, through } = policyLog;
  return {
    organizationId,
    position: (previous?.position ?? 0) + 1,
    previous: previous
      ? {
          snapshotId: previous.snapshotId,
          snapshotArtifactHash: previous.artifactHash,
          throughSequence: previous.throughSequence,
        }
      : null,
    head: { revision, chainHash, logHash },
    policyLog: { after, through },
    statePacks: packs,
  };
}
