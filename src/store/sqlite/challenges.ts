// Challenges of the login, on the local store: each is used once. What expired is forgotten, and is never usable again.
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { SqliteConnection } from './connection.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const FORGET = tenantStatement(
  'forget challenges',
  'DELETE FROM challenges WHERE organization_id = ?1 AND expires_at_millis <= ?2',
);
const INSERT = insertStatement(
  'challenges',
  ['challenge_id', 'expires_at_millis'],
  'ON CONFLICT (organization_id, challenge_id) DO NOTHING',
);

export function consumeChallenge(
  connection: SqliteConnection,
  organizationId: string,
  challengeId: string,
  expiresAt: string,
  now: string,
): boolean {
  const nowMillis = millisFromTimestamp(now);
  const expiresAtMillis = millisFromTimestamp(expiresAt);
  connection.run(FORGET, organizationId, nowMillis);
  if (expiresAtMillis <= nowMillis) return false;
  return connection.run(INSERT, organizationId, challengeId, expiresAtMillis) === 1;
}
