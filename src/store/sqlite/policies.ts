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
export const INSERT_POLICY = insertStatement('policies', ['version', 'document']);

export function currentPolicy(connection: SqliteConnection, organizationId: string): Policy {
  const row = connection.first<{ document: string }>(CURRENT, organizationId);
  if (row === undefined) throw new StoreFault('corrupt', 'the Organization has no policy');
  return completePolicy(parseStored<Policy>(row.document));
}

/** 0: there is none. */
export function policyVersion(connection: SqliteConnection, organizationId: string): number {
  return connection.first<{ version: number }>(CURRENT, organizationId)?.version ?? 0;
}
