// Marks on Events and the renditions in their places, on the local store. Sibling of postgres/withheld.ts.
import { principalKey } from '../../protocol/principals.ts';
import { admissionToRecord } from '../evidence-records.ts';
import type { AdmissionRow } from '../port.ts';
import type { RenditionRow, SpokenMessage, WithheldReader } from '../port/withheld.ts';
import {
  renditionFromRecord,
  renditionToRecord,
  withheldEventFromRecord,
  type RenditionRecord,
  type WithheldRecord,
} from '../withheld-records.ts';
import type { SqliteConnection } from './connection.ts';
import { insertRecord } from './inserting.ts';
import { insertStatement, tenantStatement } from './statements.ts';
import { INSERT_ADMISSION } from './writing.ts';

const INSERT_RENDITION = insertStatement(
  'renditions',
  'group_id position event_id cause signing_hash key_id signed_at body'.split(' '),
  'ON CONFLICT (organization_id, group_id, position, cause) DO NOTHING',
);
const MARKED = tenantStatement(
  'marked Events of a Group',
  `SELECT w.*, r.body FROM withheld w
   LEFT JOIN renditions r ON r.organization_id = w.organization_id AND r.group_id = w.group_id
     AND r.position = w.position AND r.cause = w.cause
   WHERE w.organization_id = ?1 AND w.group_id = ?2 AND w.position BETWEEN ?3 AND ?4 ORDER BY w.position, w.cause`,
);
const RENDITIONS = tenantStatement(
  'renditions of a Group',
  `SELECT * FROM renditions WHERE organization_id = ?1 AND group_id = ?2 AND position BETWEEN ?3 AND ?4
   ORDER BY position, cause`,
);
/** Only its author amends a Message; there is no index over what amends what, because these documents are rewritten often. */
const AMENDMENTS = tenantStatement(
  'amendments of a Message',
  `SELECT document ->> '$.reason.commitment' AS commitment FROM aggregates
   WHERE organization_id = ?1 AND holder = ?2 AND kind = 'message' AND group_id = ?3
     AND document ->> '$.targetMessageId' = ?4`,
);
const EVENT_OF_TEXT = tenantStatement(
  'Event of a text',
  `SELECT e.event_id, e.position FROM texts t
   JOIN events e ON e.organization_id = t.organization_id AND e.event_id = t.event_id
   WHERE t.organization_id = ?1 AND t.group_id = ?2 AND t.commitment = ?3`,
);

/** Runs inside a transaction that somebody else commits. */
export function recordRenditions(
  connection: SqliteConnection,
  organizationId: string,
  made: readonly { rendition: RenditionRow; admission: AdmissionRow }[],
): void {
  for (const { rendition, admission } of made) {
    if (insertRecord(connection, INSERT_RENDITION, organizationId, renditionToRecord(rendition)) === 0) continue;
    insertRecord(connection, INSERT_ADMISSION, organizationId, admissionToRecord(admission));
  }
}

export function eventsOfMessage(
  connection: SqliteConnection,
  organizationId: string,
  { groupId, messageId, author, commitments }: SpokenMessage,
): { eventId: string; position: number }[] {
  const amending = connection.all<{ commitment: string }>(
    AMENDMENTS,
    organizationId,
    principalKey(author),
    groupId,
    messageId,
  );
  const found = [...commitments, ...amending.map(({ commitment }) => commitment)].flatMap((commitment) =>
    connection.all<{ event_id: string; position: number }>(EVENT_OF_TEXT, organizationId, groupId, commitment),
  );
  const events = new Map(found.map((row) => [row.event_id, { eventId: row.event_id, position: row.position }]));
  return [...events.values()].sort((a, b) => a.position - b.position);
}

export function withheldReader(connection: SqliteConnection, organizationId: string): WithheldReader {
  return {
    withheldEvents: async (groupId, from, through) =>
      connection
        .all<WithheldRecord & { body: string | null }>(MARKED, organizationId, groupId, from, through)
        .map(withheldEventFromRecord),
    renditionRows: async (groupId, from, through) =>
      connection.all<RenditionRecord>(RENDITIONS, organizationId, groupId, from, through).map(renditionFromRecord),
  };
}
