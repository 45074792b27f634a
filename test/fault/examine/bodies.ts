// Bodies, wherever they lie: in their rows or, sealed, in segments. Whoever is looked at goes on sealing meanwhile, so rows are
// read first and what has gone from them is looked for afterwards.
import type { CommandRecord } from '../../../src/store/evidence-records.ts';
import type { EventRow } from '../../../src/store/port.ts';
import type { OrganizationId } from '../../../src/protocol/ids.ts';
import { signingHash } from '../../../src/trust/signing.ts';
import { canonicalText } from '../../../src/wire/canonical.ts';
import type { Look } from '../ground.ts';
import { countBy, quote, rowsIn } from './sql.ts';

/** Rows asked for in one go. */
const PAGE = 200;

type Sealable = Pick<CommandRecord, 'signing_hash' | 'body'>;

/** A body that is nowhere stays ''. */
export async function eventsWithBodies(
  { store }: Look,
  organizationId: string,
  events: readonly EventRow[],
): Promise<EventRow[]> {
  const missing = events.filter(({ body }) => body === '').map(({ eventId }) => eventId);
  const found = new Map<string, string>();
  for (const ids of pagesOf(missing)) {
    const rows = await store.read(organizationId as OrganizationId, (reader) => reader.eventsById(ids));
    for (const { eventId, body } of rows) found.set(eventId, body);
  }
  return events.map((event) => (event.body === '' ? { ...event, body: found.get(event.eventId) ?? '' } : event));
}

export async function commandsWithBodies<Record extends Sealable>(
  { store }: Look,
  organizationId: string,
  records: readonly Record[],
): Promise<Record[]> {
  const missing = records.filter(({ body }) => body === null).map((record) => record.signing_hash);
  const found = new Map<string, string>();
  for (const hashes of pagesOf(missing)) {
    const rows = await store.read(organizationId as OrganizationId, (reader) => reader.commands(hashes));
    for (const row of rows) found.set(row.signingHash, row.body);
  }
  return records.map((row) => (row.body === null ? { ...row, body: found.get(row.signing_hash) ?? '' } : row));
}

/** Of any Organization, by signing hash. */
export async function commandBodies(look: Look, hashes: readonly string[]): Promise<Map<string, string>> {
  const text = 'SELECT organization_id, signing_hash, body FROM {commands} WHERE signing_hash IN $list';
  const rows = await rowsIn<Sealable & { organization_id: string }>(look.behind, text, hashes.map(quote));
  const bodies = new Map<string, string>();
  for (const [organizationId, records] of countBy(rows, (row) => row.organization_id)) {
    for (const { signing_hash, body } of await commandsWithBodies(look, organizationId, records))
      bodies.set(signing_hash, body ?? '');
  }
  return bodies;
}

/** To the byte, for what the service signs: it stores what it signed over, in its one form. */
export function isAsSigned(body: string, hash: string): boolean {
  if (body === '') return false;
  const document = JSON.parse(body) as object;
  return signingHash(document) === hash && canonicalText(document) === body;
}

function pagesOf<Item>(items: readonly Item[]): Item[][] {
  const pages: Item[][] = [];
  for (let from = 0; from < items.length; from += PAGE) pages.push(items.slice(from, from + PAGE));
  return pages;
}
