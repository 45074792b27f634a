// The policy of one Organization on the local store; every version is kept, the highest rules.
import { completePolicy, type Policy } from '../../domain/policy.ts';
import { StoreFault } from '../port.ts';
import { parseStored } from '../stored-json.ts';
import type { SqliteConnection } from './connection.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const CURRENT = tenantStatement(
  'current policy',
  'SELECT version, document FROM policies WHERE organization_id = ?1 ORDER BY version DESC LIMIT 1',
);
const INSERT = insertStatement('policies', ['version', 'document']);

export function currentPolicy(connection: SqliteConnection, organizationId: string): Policy {
  const row = connection.first<{ document: string }>(CURRENT, organizationId);
  if (row === undefined) throw new StoreFault('corrupt', 'the Organization has no policy');
  return completePolicy(parseStored<Policy>(row.document));
}

/** A new version must be above the one that rules. */
export function addPolicy(connection: SqliteConnection, organizationId: string, policy: Policy): void {
  const row = connection.first<{ version: number }>(CURRENT, organizationId);
  if (row !== undefined && row.version >= policy.version) throw new StoreFault('conflict', 'the policy moved on');
  connection.run(INSERT, organizationId, policy.version, JSON.stringify(policy));
}
