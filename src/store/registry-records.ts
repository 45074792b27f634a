// Organizations and registry rows as the tables spell them: snake_case, principals in two columns. Both
// engines use the same names. Knows no SQL.
import type { OrganizationId } from '../protocol/ids.ts';
import type { Principal, PrincipalType } from '../protocol/principals.ts';
import type {
  KeyBindingRow,
  KeyValidityRow,
  OrganizationRow,
  PrincipalRow,
  RegistryEntryRow,
  SealedKeyRow,
} from './port.ts';
import type { RegistryInserts } from './registry-rules.ts';

export interface OrganizationRecord {
  organization_id: string;
  slug: string;
  display_name: string;
  created_at: string;
  authority_type: PrincipalType;
  authority_id: string;
  identity_type: PrincipalType;
  identity_id: string;
  registrar_type: PrincipalType;
  registrar_id: string;
}

export function organizationToRecord(row: OrganizationRow): OrganizationRecord {
  return {
    organization_id: row.organizationId,
    slug: row.slug,
    display_name: row.displayName,
    created_at: row.createdAt,
    authority_type: row.authority.type,
    authority_id: row.authority.id,
    identity_type: row.identity.type,
    identity_id: row.identity.id,
    registrar_type: row.registrar.type,
    registrar_id: row.registrar.id,
  };
}

export function organizationFromRecord(record: OrganizationRecord): OrganizationRow {
  return {
    organizationId: record.organization_id as OrganizationId,
    slug: record.slug,
    displayName: record.display_name,
    createdAt: record.created_at,
    authority: { type: record.authority_type, id: record.authority_id },
    identity: { type: record.identity_type, id: record.identity_id },
    registrar: { type: record.registrar_type, id: record.registrar_id },
  };
}

export interface PrincipalRecord {
  principal_type: PrincipalType;
  principal_id: string;
  display_name: string;
}

export function principalFromRecord(record: PrincipalRecord): PrincipalRow {
  return {
    principal: { type: record.principal_type, id: record.principal_id },
    displayName: record.display_name,
  };
}

export interface BindingRecord {
  key_id: string;
  principal_type: PrincipalType;
  principal_id: string;
  algorithm: 'Ed25519';
  public_key: string;
  valid_from: string;
}

export function bindingFromRecord(record: BindingRecord): KeyBindingRow {
  return {
    keyId: record.key_id,
    principal: { type: record.principal_type, id: record.principal_id },
    algorithm: record.algorithm,
    publicKey: record.public_key,
    validFrom: record.valid_from,
  };
}

export interface ValidityRecord {
  key_id: string;
  sequence: number;
  recorded_at: string;
  valid_until: string | null;
  revoked_at: string | null;
}

export function validityFromRecord(record: ValidityRecord): KeyValidityRow & { sequence: number } {
  return {
    keyId: record.key_id,
    sequence: record.sequence,
    recordedAt: record.recorded_at,
    ...(record.valid_until === null ? {} : { validUntil: record.valid_until }),
    ...(record.revoked_at === null ? {} : { revokedAt: record.revoked_at }),
  };
}

export interface SealedKeyRecord {
  key_id: string;
  principal_type: PrincipalType;
  principal_id: string;
  sealed: string;
}

export function sealedKeyFromRecord(record: SealedKeyRecord): SealedKeyRow {
  return {
    keyId: record.key_id,
    principal: { type: record.principal_type, id: record.principal_id },
    sealed: record.sealed,
  };
}

export interface RegistryEntryRecord {
  revision: number;
  recorded_at: string;
  changes: string;
  hash: string;
  seal: string;
}

export function registryEntryToRecord({ recordedAt, ...row }: RegistryEntryRow): RegistryEntryRecord {
  return { ...row, recorded_at: recordedAt };
}

export function registryEntryFromRecord(record: RegistryEntryRecord): RegistryEntryRow {
  const { revision, recorded_at: recordedAt, changes, hash, seal } = record;
  return { revision, recordedAt, changes, hash, seal };
}

/** The rows of a change, as they are inserted. */
export function registryInsertRecords(inserts: RegistryInserts): {
  principals: PrincipalRecord[];
  bindings: BindingRecord[];
  validity: ValidityRecord[];
  sealedKeys: SealedKeyRecord[];
  policies: RegistryInserts['policies'];
} {
  return {
    principals: inserts.principals.map(({ principal, displayName }) => ({
      ...principalColumns(principal),
      display_name: displayName,
    })),
    bindings: inserts.bindings.map(({ keyId, principal, algorithm, publicKey, validFrom }) => ({
      key_id: keyId,
      ...principalColumns(principal),
      algorithm,
      public_key: publicKey,
      valid_from: validFrom,
    })),
    validity: inserts.validity.map(({ keyId, sequence, recordedAt, validUntil, revokedAt }) => ({
      key_id: keyId,
      sequence,
      recorded_at: recordedAt,
      valid_until: validUntil ?? null,
      revoked_at: revokedAt ?? null,
    })),
    sealedKeys: inserts.sealedKeys.map(({ keyId, principal, sealed }) => ({
      key_id: keyId,
      ...principalColumns(principal),
      sealed,
    })),
    policies: inserts.policies,
  };
}

function principalColumns({ type, id }: Principal): { principal_type: PrincipalType; principal_id: string } {
  return { principal_type: type, principal_id: id };
}
