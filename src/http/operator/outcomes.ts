// What the Registry's constraints refused (MWP-SDV-004), in the words of the wire; and the tenant that a path names.
import type { Context } from 'hono';
import { refuse } from '../../protocol/refusals.ts';
import type { OrganizationRow, RegistryOutcome } from '../../store/port.ts';
import { HttpRefusal, notFound } from '../errors.ts';
import type { Directory } from '../tenancy.ts';

type Reason = Extract<RegistryOutcome, { outcome: 'refused' }>['reason'];

const SENTENCES: Readonly<Record<Reason, string>> = {
  organization_exists: 'the slug or the Organization id is already used',
  principal_exists: 'the principal is already registered',
  principal_unknown: 'no such principal in this Organization',
  key_id_bound: 'the key id is already bound to another key or principal',
  public_key_bound: 'the public key is already bound under another key id',
  key_unknown: 'no such key in this Organization',
  validity_not_earlier: 'an end of validity can be set or moved earlier, never later',
  moment_passed: 'the moment from which it should count has passed; send it again',
};

/** The Registry revision after the change; throws for a refusal. */
export function registryRevisionOf(outcome: RegistryOutcome): number {
  if (outcome.outcome === 'done') return outcome.registryRevision;
  throw registryRefusal(outcome.reason);
}

export function registryRefusal(reason: Reason): HttpRefusal {
  const isAbsence = reason === 'principal_unknown' || reason === 'key_unknown';
  const code = isAbsence ? 'INVALID_COMMAND' : 'INVALID_STATE_TRANSITION';
  return new HttpRefusal(refuse(code, SENTENCES[reason], { details: { reason } }), isAbsence ? { status: 404 } : {});
}

export async function organizationOf(c: Context, directory: Directory): Promise<OrganizationRow> {
  const found = await directory.lookUp(c.req.param('slug') ?? '');
  if (!found) throw notFound('Organization');
  return found;
}
