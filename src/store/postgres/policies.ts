// The policy of one Organization on the hosted store; every version is kept, the highest rules.
import { completePolicy, type Policy } from '../../domain/policy.ts';
import { StoreFault } from '../port.ts';
import { parseStored } from '../stored-json.ts';
import type { Transaction } from './transaction.ts';

const CURRENT = `SELECT version, document FROM mwp.policies WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`;

export async function currentPolicy(transaction: Transaction, organizationId: string): Promise<Policy> {
  const [row] = await transaction.query<{ document: string }>(CURRENT, [organizationId]);
  if (row === undefined) throw new StoreFault('corrupt', 'the Organization has no policy');
  return completePolicy(parseStored<Policy>(row.document));
}

/** 0: there is none. */
export async function policyVersion(transaction: Transaction, organizationId: string): Promise<number> {
  const [row] = await transaction.query<{ version: number }>(CURRENT, [organizationId]);
  return row?.version ?? 0;
}
