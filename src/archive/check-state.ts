// What is stored beside the Events and follows from them: state rows, texts and heads, column by column.
import { indexOf } from '../domain/aggregate-index.ts';
import type { AggregateRow, Reader, StreamRow, TextRow } from '../store/port.ts';
import { canonicalHash, canonicalText } from '../wire/canonical.ts';
import { aggregateKey } from '../wire/state-document.ts';
import type { Findings } from './findings.ts';
import type { FoldedAggregate } from './fold.ts';
import type { VerifiedStream } from './verify-stream.ts';

/** Rows asked for in one go. */
const PAGE = 500;

/** Answers how many of the stored rows the fold accounts for. */
export async function checkAggregates(
  { streamId, fold, findings }: VerifiedStream,
  isGroup: boolean,
  reader: Pick<Reader, 'aggregateRows' | 'aggregateHashes'>,
): Promise<number> {
  if (!fold.whole) return 0;
  const folded = fold.aggregates();
  let found = 0;
  for (let at = 0; at < folded.length; at += PAGE) {
    const page = folded.slice(at, at + PAGE);
    const rows = await reader.aggregateRows(page.map(({ kind, id }) => ({ kind, id })));
    const byKey = new Map(rows.map((row) => [aggregateKey(row), row]));
    found += byKey.size;
    for (const aggregate of page) compareAggregate(aggregate, byKey.get(aggregateKey(aggregate)), findings);
  }
  if (isGroup) {
    const known = new Set(folded.map(aggregateKey));
    for (const key of (await reader.aggregateHashes(streamId)).map(aggregateKey)) {
      if (!known.has(key)) findings.fault(`aggregates: ${key}: stored, though no Event says so`);
    }
  }
  return found;
}

function compareAggregate(folded: FoldedAggregate, row: AggregateRow | undefined, findings: Findings): void {
  const where = `aggregates: ${folded.kind} ${folded.id}`;
  if (!row) return findings.fault(`${where}: the Events say so, and it is not stored`);
  const index = indexOf(folded.kind, folded.document as never);
  const expected: Partial<AggregateRow> = {
    groupId: folded.groupId,
    version: folded.version,
    hash: canonicalHash(folded.document),
    state: index.state ?? null,
    holder: index.holder ?? null,
    parent: index.parent ?? null,
  };
  const differing = Object.entries(expected)
    .filter(([name, value]) => row[name as keyof AggregateRow] !== value)
    .map(([name]) => name);
  if (!isSameDocument(row.document, folded.document)) differing.push('document');
  if (differing.length > 0) findings.fault(`${where}: not what the Events say in ${differing.join(', ')}`);
}

/** The order of members is nobody's; anything else counts, spelling included. */
function isSameDocument(text: string, folded: object): boolean {
  try {
    const stored: unknown = JSON.parse(text);
    return JSON.stringify(stored) === text && canonicalText(stored) === canonicalText(folded);
  } catch {
    return false;
  }
}

export async function checkTexts(
  expected: readonly TextRow[],
  reader: Pick<Reader, 'textRows'>,
  findings: Findings,
): Promise<void> {
  for (let at = 0; at < expected.length; at += PAGE) {
    const page = expected.slice(at, at + PAGE);
    const groupId = page[0]?.groupId ?? '';
    const commitments = [...new Set(page.map(({ commitment }) => commitment))];
    const rows = new Map((await reader.textRows(groupId, commitments)).map((row) => [row.commitment, row]));
    for (const text of page) {
      const row = rows.get(text.commitment);
      if (!row) findings.fault(`texts: one of Event ${text.eventId} is missing`);
      else if (row.eventId !== text.eventId || row.value !== text.value) {
        findings.fault(`texts: one of Event ${text.eventId} is not what it commits to`);
      }
    }
  }
}

export function checkHead({ end, findings }: VerifiedStream, { head, streamKind }: StreamRow): void {
  const expected = {
    ...end,
    // A root Group is its own root, and so is the log of an Organization aggregate.
    rootGroupId: end.streamId,
  };
  for (const [name, value] of Object.entries(expected)) {
    const told = head[name as keyof typeof head];
    if (told !== value) findings.fault(`streams: ${name} is ${told} in the head, and ${value} by the rows`);
  }
  const kind = isOrganizationStream(end.streamId) ? 'organization' : 'group';
  if (streamKind !== kind) findings.fault(`streams: stream_kind is ${streamKind}, and not ${kind}`);
}

/** `card …` and `session …`; a Group is a URI, which holds no blank. */
export function isOrganizationStream(streamId: string): boolean {
  return streamId.includes(' ');
}
