// Segments against the rows that they took the bodies of: whole Groups without gap or overlap, each body in one of the two places
// and never in both or none, and every new segment opened and read to the byte.
import { openStored } from '../../../src/archive/segments/opened.ts';
import type { SegmentBodies } from '../../../src/archive/segments/format.ts';
import type { OrganizationId } from '../../../src/protocol/ids.ts';
import type { SegmentRow } from '../../../src/store/port/segments.ts';
import { segmentFromRecord, type SegmentRecord } from '../../../src/store/segment-records.ts';
import { signingHash } from '../../../src/trust/signing.ts';
import { digest } from '../ledger.ts';
import type { Look } from '../ground.ts';
import { isAsSigned } from './bodies.ts';
import { quote, rowsIn, rowsOf } from './sql.ts';

interface EventInRow {
  position: number;
  event_id: string;
  signing_hash: string;
  body: string | null;
}

/** The digest of an Event's body when it was first looked at; undefined: it has come since. */
type SeenBody = (organizationId: string, eventId: string) => string | undefined;

export class Segments {
  /** That were found in order. */
  count = 0;
  /** By Organization and Group. */
  private readonly last = new Map<string, SegmentRow>();

  async examine(look: Look, seen: SeenBody): Promise<string[]> {
    const faults = await this.examinePlaces(look);
    const records = await rowsOf<SegmentRecord & { organization_id: string }>(
      look.behind,
      'SELECT * FROM {segments} ORDER BY organization_id, group_id, position',
    );
    for (const { organization_id, ...record } of records) {
      const segment = segmentFromRecord(record);
      const key = `${organization_id} ${segment.groupId}`;
      const before = this.last.get(key);
      if (segment.position <= (before?.position ?? 0)) continue;
      const follows =
        segment.position === (before?.position ?? 0) + 1 &&
        segment.firstSequence === (before?.lastSequence ?? 0) + 1 &&
        segment.firstRevision === (before?.lastRevision ?? 0) + 1;
      const found = follows ? [] : ['does not begin where the one before ended'];
      found.push(...(await examineOne(look, organization_id, segment, seen)));
      faults.push(...found.map((fault) => `segment ${segment.position} of ${segment.groupId}: ${fault}`));
      this.last.set(key, segment);
      this.count += 1;
    }
    return faults;
  }

  /** One statement, so that what is sealed meanwhile is in both numbers or in none. */
  private async examinePlaces({ behind }: Look): Promise<string[]> {
    const [row] = await rowsOf<{ taken: unknown; sealed: unknown }>(
      behind,
      `SELECT (SELECT count(*) FROM {events} WHERE body IS NULL) AS taken,
         (SELECT coalesce(sum(last_sequence - first_sequence + 1), 0) FROM {segments}) AS sealed`,
    );
    const [taken, sealed] = [Number(row?.taken), Number(row?.sealed)];
    return taken === sealed ? [] : [`${taken} Events are without their bodies, and ${sealed} are in segments`];
  }
}

async function examineOne(
  { behind, spaces }: Look,
  organizationId: string,
  segment: SegmentRow,
  seen: SeenBody,
): Promise<string[]> {
  const mine = `organization_id = ${quote(organizationId)}`;
  const rows = await rowsOf<EventInRow>(
    behind,
    `SELECT position, event_id, signing_hash, body FROM {events} WHERE ${mine} AND stream_id = ${quote(segment.groupId)}
     AND position BETWEEN ${segment.firstSequence} AND ${segment.lastSequence} ORDER BY position`,
  );
  const opened = await openStored(spaces.segments, organizationId as OrganizationId, segment).catch(
    (error: Error) => error.message,
  );
  if (typeof opened === 'string') return [opened];
  const faults: string[] = [];
  if (opened.events.size !== rows.length) faults.push(`${opened.events.size} bodies of ${rows.length} Events`);
  for (const { position, event_id, signing_hash, body } of rows) {
    const sealed = opened.events.get(position) ?? '';
    if (body !== null) faults.push(`the Event ${position} has its body in its row as well`);
    if (!isAsSigned(sealed, signing_hash)) faults.push(`the body of Event ${position} is not what was signed`);
    if (digest(sealed) !== (seen(organizationId, event_id) ?? digest(sealed)))
      faults.push(`the body of Event ${position} has other bytes`);
  }
  return [...faults, ...(await examineBrought(behind, mine, opened))];
}

/** The Commands and documents that it took in. */
async function examineBrought(behind: Look['behind'], mine: string, opened: SegmentBodies): Promise<string[]> {
  const faults: string[] = [];
  for (const table of ['commands', 'documents'] as const) {
    for (const [hash, body] of opened[table])
      if (signingHash(JSON.parse(body) as object) !== hash) faults.push(`${hash}: another body`);
    const hashes = [...opened[table].keys()].map(quote);
    const text = `SELECT signing_hash, body FROM {${table}} WHERE ${mine} AND signing_hash IN $list`;
    const rows = await rowsIn<{ body: string | null }>(behind, text, hashes);
    const emptied = rows.filter(({ body }) => body === null).length;
    if (emptied !== hashes.length) faults.push(`${hashes.length} bodies of ${table}, and ${emptied} empty rows`);
  }
  return faults;
}
