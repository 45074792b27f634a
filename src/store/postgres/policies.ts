// The policy of one Organization on the hosted store; every version is kept, the highest rules.
import { completePolicy, type Policy } from '../../domain/policy.ts';
import { StoreFault } from '../port.ts';
import { parseStored } from '../stored-json.ts';
import type { Statement } from './session.ts';
import type { Transaction } from './transaction.ts';

const CURRENT = `SELECT version, document FROM mwp.policies WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`;
const INSERT = 'INSERT INTO mwp.policies (organization_id, version, document) VALUES ($1, $2, $3)';

export async function currentPolicy(transaction: Transaction, organizationId: string): Promise<Policy> {
  const [row] = await transaction.query<{ document: string }>(CURRENT, [organizationId]);
  if (row === undefined) throw new StoreFault('corrupt', 'the Organization has no policy');
  return completePolicy(parseStored<Policy>(row.document));
}

/** A new version must be above the one that rules. Under the exclusive lock of the Organization. */
export async function policyInsert(
  transaction: Transaction,
  organizationId: string,
  policy: Policy,
): Promise<Statement> {
  const [row] = await transaction.query<{ version: number }>(CURRENT, [organizationId]);
  if (row !== undefined && row.version >= policy.version) throw new StoreFault('conflict', 'the policy moved on');
  return { text: INSERT, parameters: [organizationId, String(policy.version), JSON.stringify(policy)] };
}
