// Sealed segments on the local store. Sibling of postgres/segments.ts.
import { pageLimit } from '../bounded-reads.ts';
import type { SealedBodies, SegmentReader, SegmentRow, SegmentStore, Window } from '../port/segments.ts';
import {
  outsideOf,
  segmentFromRecord,
  segmentToRecord,
  standingFromRecord,
  type SegmentRecord,
  type StandingRecord,
} from '../segment-records.ts';
import type { SqliteConnection } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';

const COLUMNS =
  'group_id position first_sequence last_sequence first_revision last_revision first_event_id last_event_id hash size';
const INSERT = insertStatement(
  'segments',
  COLUMNS.split(' '),
  'ON CONFLICT (organization_id, group_id, position) DO NOTHING',
);
const EMPTY_EVENTS = tenantStatement(
  'take the bodies out of Events',
  `UPDATE events SET body = NULL
   WHERE organization_id = ?1 AND stream_id = ?2 AND position BETWEEN ?3 AND ?4 AND body IS NOT NULL`,
);
export const EMPTY_COMMANDS = tenantStatement(
  'take the bodies out of Commands',
  `UPDATE commands SET body = NULL
   WHERE organization_id = ?1 AND signing_hash IN (SELECT value FROM json_each(?2)) AND body IS NOT NULL`,
);
export const EMPTY_DOCUMENTS = tenantStatement(
  'take the bodies out of documents',
  `UPDATE documents SET body = NULL
   WHERE organization_id = ?1 AND signing_hash IN (SELECT value FROM json_each(?2)) AND body IS NOT NULL`,
);
const FROM = tenantStatement(
  'segments from a sequence on',
  `SELECT * FROM segments WHERE organization_id = ?1 AND group_id = ?2 AND last_sequence >= ?3
   ORDER BY last_sequence LIMIT ?4`,
);
const OF_REVISION = tenantStatement(
  'segment of a revision',
  `SELECT * FROM segments WHERE organization_id = ?1 AND group_id = ?2 AND last_revision >= ?3
   ORDER BY last_revision LIMIT 1`,
);
const LATEST = tenantStatement(
  'latest segment of a Group',
  'SELECT * FROM segments WHERE organization_id = ?1 AND group_id = ?2 ORDER BY position DESC LIMIT 1',
);
const AT = tenantStatement(
  'segment at a position',
  'SELECT * FROM segments WHERE organization_id = ?1 AND group_id = ?2 AND position = ?3',
);
const STANDING = `SELECT s.stream_id AS group_id, s.position AS head_sequence,
    coalesce((SELECT g.last_sequence FROM segments g WHERE g.organization_id = ?1 AND g.group_id = s.stream_id
      ORDER BY g.position DESC LIMIT 1), 0) AS sealed_through,
    coalesce((SELECT g.through_sequence FROM group_snapshots g WHERE g.organization_id = ?1 AND g.group_id = s.stream_id
      ORDER BY g.position DESC LIMIT 1), 0) AS snapshot_through
  FROM streams s WHERE s.organization_id = ?1 AND s.stream_kind = 'group'`;
const STANDINGS = tenantStatement(
  'how far Groups are',
  `${STANDING} AND s.stream_id > ?2 ORDER BY s.stream_id LIMIT ?3`,
);
const STANDING_OF = tenantStatement('how far a Group is', `${STANDING} AND s.stream_id = ?2`);
const BEYOND_BYTES = tenantStatement(
  'Events before the last so many bytes',
  `SELECT coalesce(max(position), 0) AS through FROM (
     SELECT position, sum(octet_length(body)) OVER (ORDER BY position DESC) AS total FROM events
     WHERE organization_id = ?1 AND stream_id = ?2 AND position > ?3) WHERE total > ?4`,
);
const FIRST_SINCE = tenantStatement(
  'the first Event since a time',
  `SELECT position FROM events WHERE organization_id = ?1 AND stream_id = ?2 AND position > ?3 AND occurred_at >= ?4
   ORDER BY position LIMIT 1`,
);

export function segmentStore(connections: SqliteConnections): SegmentStore {
  return {
    seal: (organizationId, segment, bodies) =>
      connections.write(organizationId, async (connection) => {
        const isSealed = seal(connection, organizationId, segment, bodies);
        return { commit: isSealed, result: isSealed };
      }),
    standings: (organizationId, afterGroupId, limit) =>
      connections.read(organizationId, async (connection) =>
        connection
          .all<StandingRecord>(STANDINGS, organizationId, afterGroupId, pageLimit(limit))
          .map(standingFromRecord),
      ),
    standing: (organizationId, groupId) =>
      connections.read(organizationId, async (connection) => standingOf(connection, organizationId, groupId)),
    outsideWindow: (organizationId, groupId, window) =>
      connections.read(organizationId, async (connection) => outside(connection, organizationId, groupId, window)),
  };
}

export function segmentReader(connection: SqliteConnection, organizationId: string): SegmentReader {
  const all = (...[statement, ...values]: [typeof FROM, ...(string | number)[]]) =>
    connection.all<SegmentRecord>(statement, organizationId, ...values).map(segmentFromRecord);
  return {
    segmentsFrom: async (groupId, sequence, limit) => all(FROM, groupId, sequence, pageLimit(limit)),
    segmentOfRevision: async (groupId, revision) =>
      all(OF_REVISION, groupId, revision).find(({ firstRevision }) => firstRevision <= revision),
    segmentAt: async (groupId, position) => all(AT, groupId, position)[0],
    latestSegment: async (groupId) => all(LATEST, groupId)[0],
  };
}

function seal(
  connection: SqliteConnection,
  organizationId: string,
  segment: SegmentRow,
  { events, commands, documents }: SealedBodies,
): boolean {
  if (insertRecord(connection, INSERT, organizationId, segmentToRecord(segment)) !== 1) return false;
  const { groupId, firstSequence, lastSequence } = segment;
  return (
    connection.run(EMPTY_EVENTS, organizationId, groupId, firstSequence, lastSequence) === events &&
    connection.run(EMPTY_COMMANDS, organizationId, JSON.stringify(commands)) === commands.length &&
    connection.run(EMPTY_DOCUMENTS, organizationId, JSON.stringify(documents)) === documents.length
  );
}

function standingOf(connection: SqliteConnection, organizationId: string, groupId: string) {
  return connection.all<StandingRecord>(STANDING_OF, organizationId, groupId).map(standingFromRecord)[0];
}

function outside(
  connection: SqliteConnection,
  organizationId: string,
  groupId: string,
  { events, bytes, since }: Window,
): number {
  const standing = standingOf(connection, organizationId, groupId);
  if (!standing) return 0;
  const { sealedThrough } = standing;
  const heavy =
    bytes === undefined
      ? undefined
      : connection.first<{ through: number }>(BEYOND_BYTES, organizationId, groupId, sealedThrough, bytes);
  const young =
    since === undefined
      ? undefined
      : connection.first<{ position: number }>(FIRST_SINCE, organizationId, groupId, sealedThrough, since);
  return outsideOf(standing, { events, heavyThrough: heavy?.through, since, firstSince: young?.position });
}
