// State packs: the aggregate documents that changed since the snapshot before, one a line, compressed. Laid over each other,
// later ones first asked, they give the state; every document is checked against its hash on the way in and out.
import { pipeline, Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import type { OrganizationId } from '../../protocol/ids.ts';
import { StoreFault, type Reader } from '../../store/port.ts';
import type { StatePack } from '../../trust/snapshot-link.ts';
import { canonicalHash } from '../../wire/canonical.ts';
import { splitLines } from '../../wire/lines.ts';
import { aggregateKey, type AggregateHash, type StateDocument } from '../../wire/state-document.ts';
import { lineText, readPackLine, STATE_LINE_MAXIMUM, type PackLine } from '../../wire/state-lines.ts';
import type { JsonObject } from '../../protocol/documents/json-value.ts';
import type { SnapshotBlobs } from './ports.ts';

/** Documents read in one go. */
const PAGE = 200;
/** Packs that one state is made of at most: each is opened to read it. */
const PACKS_MAXIMUM = 64;
/** Bytes of later packs, as a multiple of the first: beyond it most of what is read is outdated. */
const OUTGROWN = 2;

/** What a snapshot is made of cannot be read, or is not what was signed. */
export class PackFault extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'PackFault';
  }
}

/** What `now` has otherwise than `before`, or more. Aggregates never vanish. */
export function changedSince(before: readonly AggregateHash[], now: readonly AggregateHash[]): AggregateHash[] {
  const known = new Map(before.map((aggregate) => [aggregateKey(aggregate), aggregate.hash]));
  return now.filter((aggregate) => known.get(aggregateKey(aggregate)) !== aggregate.hash);
}

export function haveOutgrown([base, ...later]: readonly StatePack[]): boolean {
  if (!base || later.length + 1 >= PACKS_MAXIMUM) return true;
  return later.reduce((sum, { bytes }) => sum + bytes, 0) > OUTGROWN * base.bytes;
}

/** The bytes of a pack, a page of documents at a time; throws where a row is not what its hash says. */
export function packBytes(
  wanted: readonly AggregateHash[],
  reader: Pick<Reader, 'aggregateRows'>,
  progress: (documents: number) => void = () => {},
): AsyncIterable<Uint8Array> {
  async function* pages(): AsyncGenerator<string> {
    for (let at = 0; at < wanted.length; at += PAGE) {
      const page = wanted.slice(at, at + PAGE);
      const rows = new Map((await reader.aggregateRows(page)).map((row) => [aggregateKey(row), row]));
      let text = '';
      for (const { kind, id, hash } of page) {
        const row = rows.get(aggregateKey({ kind, id }));
        const document = row && (JSON.parse(row.document) as JsonObject);
        if (!document || canonicalHash(document) !== hash)
          throw new StoreFault('corrupt', `aggregates: ${kind} ${id} is not what its hash says`);
        text += lineText({ kind, id, groupId: row.groupId, version: row.version, document });
      }
      yield text;
      progress(page.length);
    }
  }
  const gzip = createGzip();
  // Whoever reads gets the error of what is written, too.
  pipeline(Readable.from(pages()), gzip, () => {});
  return gzip;
}

/** Every aggregate of the state once, as the packs have it. Throws PackFault where they do not give all of it. */
export async function* stateOf(
  { aggregates }: StateDocument,
  packs: readonly StatePack[],
  open: (hash: string) => Promise<AsyncIterable<Uint8Array> | undefined>,
): AsyncGenerator<PackLine> {
  const awaited = new Map(aggregates.map((aggregate) => [aggregateKey(aggregate), aggregate.hash]));
  for (const { hash } of packs.toReversed()) {
    if (awaited.size === 0) return;
    const bytes = await open(hash);
    if (!bytes) throw new PackFault(`the state pack ${hash} is gone`);
    for await (const line of packLines(bytes, hash)) {
      const expected = awaited.get(aggregateKey(line));
      if (expected === undefined) continue;
      // Of what stands in several packs the latest comes first, and it must be the right one.
      if (canonicalHash(line.document) !== expected)
        throw new PackFault(`${line.kind} ${line.id} in the state pack ${hash} is not what the state says`);
      awaited.delete(aggregateKey(line));
      yield line;
    }
  }
  if (awaited.size > 0) throw new PackFault(`${awaited.size} aggregates of the state stand in no pack`);
}

async function* packLines(bytes: AsyncIterable<Uint8Array>, hash: string): AsyncGenerator<PackLine> {
  const fault = (sentence: string) => new PackFault(`the state pack ${hash}: ${sentence}`);
  const gunzip = createGunzip();
  pipeline(Readable.from(bytes), gunzip, () => {});
  for await (const bytesOfLine of splitLines(gunzip, STATE_LINE_MAXIMUM, fault)) {
    const line = readPackLine(bytesOfLine);
    if (!line) throw fault('a line that is no aggregate');
    yield line;
  }
}

/** The address of a state document is its state hash. Undefined: not there, or not one. */
export async function readStateDocument(
  blobs: SnapshotBlobs,
  organizationId: OrganizationId,
  stateHash: string,
): Promise<StateDocument | undefined> {
  const bytes = await blobs.get(organizationId, stateHash);
  if (!bytes) return undefined;
  return (await json(bytes)) as StateDocument;
}
