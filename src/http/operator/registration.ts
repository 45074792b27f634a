// Registers principals and keys: strict point checks first, then the store's constraints. Saying the same thing twice is
// no error (MWP-SDV-004a).
import type { OrganizationId } from '../../protocol/ids.ts';
import { samePrincipal, type Principal } from '../../protocol/principals.ts';
import type { KeyBindingRow, OrganizationStore, PrincipalRow, RegistryOutcome } from '../../store/port.ts';
import { validateNewBinding } from '../../trust/bindings.ts';
import type { KeyBinding } from '../../trust/evidence.ts';
import { fail } from '../errors.ts';
import { registryRefusal, registryRevisionOf } from './outcomes.ts';

export interface KeyWish {
  keyId: string;
  publicKey: string;
  /** Absent: from now on, or what is registered already when this is a repetition. */
  validFrom?: string;
}

export interface Registration {
  keys: KeyBindingRow[];
  registryRevision: number;
}

/** `row` absent: the principal must be known already. Throws HttpRefusal for whatever does not fit. */
export async function register(
  organizations: OrganizationStore,
  organizationId: OrganizationId,
  principal: Principal,
  wishes: readonly KeyWish[],
  row?: PrincipalRow,
): Promise<Registration> {
  const attempt = () => registerOnce(organizations, organizationId, principal, wishes, row);
  let { keys, outcome } = await attempt();
  // Bound by somebody else since the look: if it was the same wish, the second look sees a repetition.
  if (outcome.outcome === 'refused' && outcome.reason === 'key_id_bound') ({ keys, outcome } = await attempt());
  return { keys, registryRevision: registryRevisionOf(outcome) };
}

async function registerOnce(
  organizations: OrganizationStore,
  organizationId: OrganizationId,
  principal: Principal,
  wishes: readonly KeyWish[],
  row?: PrincipalRow,
): Promise<{ keys: KeyBindingRow[]; outcome: RegistryOutcome }> {
  const keys = await bindingsFor(organizations, organizationId, principal, wishes);
  if (row) {
    const outcome = await organizations.changeRegistry(organizationId, { principals: [row], bindings: keys });
    if (outcome.outcome === 'done' || outcome.reason !== 'principal_exists') return { keys, outcome };
  }
  // The principal is there, perhaps since another process was quicker; its display name stays the first one.
  return { keys, outcome: await organizations.changeRegistry(organizationId, { bindings: keys }) };
}

async function bindingsFor(
  organizations: OrganizationStore,
  organizationId: OrganizationId,
  principal: Principal,
  wishes: readonly KeyWish[],
): Promise<KeyBindingRow[]> {
  if (wishes.length === 0) return [];
  const now = await organizations.now();
  const known = await organizations.keyEvidence(
    organizationId,
    wishes.map(({ keyId }) => keyId),
  );
  return wishes.map(({ keyId, publicKey, validFrom }) => {
    const found = known.get(keyId)?.binding;
    const isRepetition = found?.publicKey === publicKey && samePrincipal(found.principal, principal);
    const row: KeyBindingRow = {
      keyId,
      principal,
      algorithm: 'Ed25519',
      publicKey,
      validFrom: validFrom ?? (isRepetition ? found.validFrom : now),
    };
    return checked(row, found);
  });
}

/** A repetition comes back with its first spelling. Who else holds the public key is the store's to say. */
function checked(row: KeyBindingRow, found: KeyBindingRow | undefined): KeyBindingRow {
  const candidate: KeyBinding = { ...row, history: [] };
  const underKeyId = found && { ...found, history: [] };
  const verdict = validateNewBinding(candidate, { underKeyId, underPublicKey: undefined });
  switch (verdict.outcome) {
    case 'new':
      return row;
    case 'same':
      return { ...row, validFrom: verdict.binding.validFrom };
    case 'refused':
      if (verdict.fault === 'key-id-reused') throw registryRefusal('key_id_bound');
      throw fail('INVALID_COMMAND', `the key ${row.keyId} cannot be registered: ${verdict.fault}`);
  }
}
