// Challenges of the login, on the hosted store: each is used once. What expired is forgotten, and is never usable again.
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { PostgresConnections } from './connections.ts';

const FORGET = `DELETE FROM mwp.challenges WHERE organization_id = $1
  AND expires_at_millis <= coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;
/** Of two at the same time, the second waits for the first and then inserts nothing. */
const INSERT = `INSERT INTO mwp.challenges (organization_id, challenge_id, expires_at_millis)
  SELECT $1, $3, $4::bigint
  WHERE $4::bigint > coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
  ON CONFLICT (organization_id, challenge_id) DO NOTHING RETURNING 1 AS used`;

export async function consumeChallenge(
  connections: PostgresConnections,
  organizationId: string,
  challengeId: string,
  expiresAt: string,
  nowMillis: number | undefined,
): Promise<boolean> {
  const now = nowMillis === undefined ? null : String(nowMillis);
  const forget = { text: FORGET, parameters: [organizationId, now] };
  const parameters = [organizationId, now, challengeId, String(millisFromTimestamp(expiresAt))];
  return connections.write(organizationId, [forget], async (transaction) => {
    return (await transaction.commit({ text: INSERT, parameters })).length === 1;
  });
}
