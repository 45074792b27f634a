// Marks on Events and the renditions in their places, on the hosted store. Sibling of sqlite/withheld.ts.
import { principalKey } from '../../protocol/principals.ts';
import { admissionToRecord } from '../evidence-records.ts';
import type { AdmissionRow } from '../port.ts';
import type { RenditionRow, SpokenMessage, WithheldReader, WithheldRow } from '../port/withheld.ts';
import {
  renditionFromRecord,
  renditionToRecord,
  withheldEventFromRecord,
  withheldToRecord,
} from '../withheld-records.ts';
import type { PostgresConnections } from './connections.ts';
import { admissions, renditions, withheld } from './schema.ts';
import type { Row, Statement, Value } from './session.ts';
import { columnsOf, forEachOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const MARK = columnsOf(withheld);
const RENDITION = columnsOf(renditions);
const valuesOf = (columns: string) => columns.replace('organization_id', '$1');
const INSERT_MARKS = `INSERT INTO mwp.withheld (${MARK})
  SELECT ${valuesOf(MARK)} FROM json_populate_recordset(NULL::mwp.withheld, $2::json)`;
/** In order, so that two who make the same ones wait for each other and never both. */
const RECORD = `WITH recorded AS (
    INSERT INTO mwp.renditions (${RENDITION})
    SELECT ${valuesOf(RENDITION)} FROM json_populate_recordset(NULL::mwp.renditions, $2::json) ORDER BY position, cause
    ON CONFLICT (organization_id, group_id, position, cause) DO NOTHING RETURNING signing_hash)
  INSERT INTO mwp.admissions (${columnsOf(admissions)})
  SELECT ${valuesOf(columnsOf(admissions))} FROM json_populate_recordset(NULL::mwp.admissions, $3::json)
  WHERE signing_hash IN (SELECT signing_hash FROM recorded)`;
const MARKED = `SELECT ${prefixed(MARK, 'w')}, r.body FROM mwp.withheld w
  LEFT JOIN mwp.renditions r ON r.organization_id = w.organization_id AND r.group_id = w.group_id
    AND r.position = w.position AND r.cause = w.cause
  WHERE w.organization_id = $1 AND w.group_id = $2 AND w.position BETWEEN $3::bigint AND $4::bigint
  ORDER BY w.position, w.cause`;
const RENDITIONS = `SELECT ${RENDITION} FROM mwp.renditions
  WHERE organization_id = $1 AND group_id = $2 AND position BETWEEN $3::bigint AND $4::bigint ORDER BY position, cause`;
/** Only its author amends a Message; there is no index over what amends what, because these documents are rewritten often. */
const AMENDMENTS = `SELECT a.document -> 'reason' ->> 'commitment' AS commitment FROM mwp.aggregates a
  WHERE a.organization_id = $1 AND a.holder = $2 AND a.kind = 'message' AND a.group_id = $3
    AND a.document ->> 'targetMessageId' = $4`;
const EVENTS_OF_TEXTS = `${forEachOf(
  '$2',
  `SELECT e.event_id, e.position FROM mwp.texts t
     JOIN mwp.events e ON e.organization_id = t.organization_id AND e.event_id = t.event_id AND e.event_id >= ''
   WHERE t.organization_id = $1 AND t.group_id = $3 AND t.commitment = wanted.id`,
)} ORDER BY position`;

export function marksStatement(organizationId: string, rows: readonly WithheldRow[]): Statement {
  return { text: INSERT_MARKS, parameters: [organizationId, rows.map(withheldToRecord)] };
}

export function recordRenditions(
  connections: PostgresConnections,
  organizationId: string,
  made: readonly { rendition: RenditionRow; admission: AdmissionRow }[],
): Promise<void> {
  const rows = [
    made.map(({ rendition }) => renditionToRecord(rendition)),
    made.map(({ admission }) => admissionToRecord(admission)),
  ];
  return connections.write(organizationId, [], async (transaction) => {
    await transaction.commit({ text: RECORD, parameters: [organizationId, ...rows] });
  });
}

export async function eventsOfMessage(
  transaction: Transaction,
  organizationId: string,
  { groupId, messageId, author, commitments }: SpokenMessage,
): Promise<{ eventId: string; position: number }[]> {
  const amending = await transaction.query<{ commitment: string }>(AMENDMENTS, [
    organizationId,
    principalKey(author),
    groupId,
    messageId,
  ]);
  const wanted = [...commitments, ...amending.map(({ commitment }) => commitment)];
  const rows = await transaction.query<{ event_id: string; position: number }>(EVENTS_OF_TEXTS, [
    organizationId,
    wanted,
    groupId,
  ]);
  return [...new Map(rows.map((row) => [row.event_id, { eventId: row.event_id, position: row.position }])).values()];
}

export function withheldReader(transaction: Transaction, organizationId: string): WithheldReader {
  const all = async <Record, Answer>(text: string, values: Value[], from: (record: Record) => Answer) =>
    (await transaction.query<Row>(text, [organizationId, ...values])).map((row) => from(row as Record));
  return {
    withheldEvents: (groupId, from, through) => all(MARKED, [groupId, from, through], withheldEventFromRecord),
    renditionRows: (groupId, from, through) => all(RENDITIONS, [groupId, from, through], renditionFromRecord),
  };
}

function prefixed(columns: string, alias: string): string {
  return columns
    .split(', ')
    .map((column) => `${alias}.${column}`)
    .join(', ');
}
