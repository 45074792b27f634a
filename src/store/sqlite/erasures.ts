// Erasures on the local store. Sibling of postgres/erasures.ts.
import { pageLimit } from '../bounded-reads.ts';
import { erasureFromRecord, type ErasureRecord } from '../erasure-records.ts';
import type { ErasureStore, TakenBodies } from '../port/erasures.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { EMPTY_COMMANDS, EMPTY_DOCUMENTS } from './segments.ts';
import { tenantStatement } from './statements.ts';

const IN_STATE = tenantStatement(
  'erasures in a state',
  `SELECT * FROM erasures WHERE organization_id = ?1 AND state = ?2 AND ordered_by > ?3 ORDER BY ordered_by LIMIT ?4`,
);
const ONE = tenantStatement('erasure', 'SELECT * FROM erasures WHERE organization_id = ?1 AND ordered_by = ?2');
const TAKE = tenantStatement(
  'note that the bodies of an erasure are taken',
  `UPDATE erasures SET state = 'taken', blobs = ?3, taken_at = ?4
   WHERE organization_id = ?1 AND ordered_by = ?2 AND state = 'due'`,
);
const REMOVED = tenantStatement(
  'note that the blobs of an erasure are removed',
  `UPDATE erasures SET state = 'removed', blobs = '[]', removed_at = ?3
   WHERE organization_id = ?1 AND ordered_by = ?2 AND state = 'taken'`,
);
const SCRUBBED = tenantStatement(
  'note that an erasure is scrubbed',
  `UPDATE erasures SET state = 'scrubbed', scrubbed_at = ?3
   WHERE organization_id = ?1 AND ordered_by = ?2 AND state = 'removed'`,
);
/** Its marks, those among the named Events, and the renditions that any mark on the same Events still lacks. */
const STANDING = tenantStatement(
  'marks of an erasure',
  `SELECT count(*) AS marks, coalesce(sum(w.event_id IN (SELECT value FROM json_each(?6))), 0) AS named,
     coalesce(sum((SELECT count(*) FROM withheld o
       LEFT JOIN renditions r ON r.organization_id = o.organization_id AND r.group_id = o.group_id
         AND r.position = o.position AND r.cause = o.cause
       WHERE o.organization_id = ?1 AND o.group_id = w.group_id AND o.position = w.position AND r.position IS NULL)), 0)
       AS unrendered
   FROM withheld w WHERE w.organization_id = ?1 AND w.group_id = ?3 AND w.position BETWEEN ?4 AND ?5
     AND w.cause = 'erased' AND w.ordered_by = ?2`,
);
const SEAL_ANEW = tenantStatement(
  'seal a segment anew',
  `UPDATE segments SET hash = ?5, size = ?6
   WHERE organization_id = ?1 AND group_id = ?2 AND position = ?3 AND hash = ?4`,
);
const EMPTY_EVENTS = tenantStatement(
  'take the bodies out of erased Events',
  `UPDATE events SET body = NULL WHERE organization_id = ?1 AND stream_id = ?2
     AND position IN (SELECT value FROM json_each(?3)) AND body IS NOT NULL`,
);
const DELETE_TEXTS = tenantStatement(
  'delete the texts of erased Events',
  `DELETE FROM texts WHERE organization_id = ?1 AND event_id IN (SELECT value FROM json_each(?2))`,
);
const SEALED_AT = tenantStatement(
  'segments at addresses',
  `SELECT hash FROM segments WHERE organization_id = ?1 AND hash IN (SELECT value FROM json_each(?2))`,
);

export function erasureStore(connections: SqliteConnections, clock: () => string): ErasureStore {
  const noted = (statement: typeof REMOVED, organizationId: string, orderedBy: string) =>
    connections.write(organizationId, async (connection) => {
      connection.run(statement, organizationId, orderedBy, clock());
      return { commit: true, result: undefined };
    });
  return {
    inState: (organizationId, state, after, limit) =>
      connections.read(organizationId, async (connection) =>
        connection.all<ErasureRecord>(IN_STATE, organizationId, state, after, pageLimit(limit)).map(erasureFromRecord),
      ),
    state: (organizationId, orderedBy) =>
      connections.read(
        organizationId,
        async (connection) => connection.first<ErasureRecord>(ONE, organizationId, orderedBy)?.state,
      ),
    take: (organizationId, orderedBy, taken) =>
      connections.write(organizationId, async (connection) => {
        const isTaken = take(connection, { organizationId, orderedBy, now: clock() }, taken);
        return { commit: isTaken, result: isTaken };
      }),
    removed: (organizationId, orderedBy) => noted(REMOVED, organizationId, orderedBy),
    sealedAt: (organizationId, hashes) =>
      connections.read(organizationId, async (connection) =>
        connection.all<{ hash: string }>(SEALED_AT, organizationId, JSON.stringify(hashes)).map(({ hash }) => hash),
      ),
    scrubbing: {
      scrub: () => connections.scrub(),
      scrubbed: (organizationId, orderedBy) => noted(SCRUBBED, organizationId, orderedBy),
    },
  };
}

function take(
  connection: SqliteConnection,
  { organizationId, orderedBy, now }: { organizationId: string; orderedBy: string; now: string },
  { eventIds, events, commands, documents, segments }: TakenBodies,
): boolean {
  const row = connection.first<ErasureRecord>(ONE, organizationId, orderedBy);
  const blobs = JSON.stringify(segments.map(({ before }) => before));
  if (!row || connection.run(TAKE, organizationId, orderedBy, blobs, now) !== 1) return false;
  const { group_id: groupId, first_sequence: first, last_sequence: last } = row;
  const ids = JSON.stringify(eventIds);
  const standing = connection.first<Standing>(STANDING, organizationId, orderedBy, groupId, first, last, ids);
  if (standing?.marks !== eventIds.length || standing.named !== eventIds.length || standing.unrendered > 0)
    return false;
  for (const { position, before, hash, size } of segments)
    if (connection.run(SEAL_ANEW, organizationId, groupId, position, before, hash, size) !== 1) return false;
  const isWhole =
    connection.run(EMPTY_EVENTS, organizationId, groupId, JSON.stringify(events)) === events.length &&
    connection.run(EMPTY_COMMANDS, organizationId, JSON.stringify(commands)) === commands.length &&
    connection.run(EMPTY_DOCUMENTS, organizationId, JSON.stringify(documents)) === documents.length;
  if (isWhole) connection.run(DELETE_TEXTS, organizationId, ids);
  return isWhole;
}

interface Standing {
  marks: number;
  named: number;
  unrendered: number;
}
