// What lies in the blob of a segment: a header and then one body a line, compressed. Bodies are texts, byte for byte as they
// were signed or received; each is checked against what its row says by whoever proves it, not here.
import { gunzip as unzip, gzip as zip } from 'node:zlib';
import { promisify } from 'node:util';
import type { SegmentRow } from '../../store/port/segments.ts';

const gzip = promisify(zip);
const gunzip = promisify(unzip);

const FORMAT = 1;
/** Bytes of an opened segment: two of the largest transitions, far above what is put into one. */
const OPENED_MAXIMUM = 268_435_456;

export type SegmentRange = Pick<
  SegmentRow,
  'groupId' | 'firstSequence' | 'lastSequence' | 'firstRevision' | 'lastRevision'
>;

export interface SegmentBodies {
  /** By sequence. */
  events: Map<number, string>;
  /** By signing hash. */
  commands: Map<string, string>;
  documents: Map<string, string>;
}

/** The bytes are no segment, or one of another range. */
export class SegmentFault extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'SegmentFault';
  }
}

/** The same bodies give the same bytes. */
export async function packSegment(organizationId: string, range: SegmentRange, bodies: SegmentBodies): Promise<Buffer> {
  const lines = [JSON.stringify(headerOf(organizationId, range))];
  for (const [sequence, body] of bodies.events) lines.push(JSON.stringify(['event', sequence, body]));
  for (const [hash, body] of bodies.commands) lines.push(JSON.stringify(['command', hash, body]));
  for (const [hash, body] of bodies.documents) lines.push(JSON.stringify(['document', hash, body]));
  return gzip(`${lines.join('\n')}\n`);
}

/** Throws SegmentFault. */
export async function openSegment(
  bytes: AsyncIterable<Uint8Array>,
  organizationId: string,
  range: SegmentRange & { size: number },
): Promise<SegmentBodies> {
  const packed = await whole(bytes);
  if (packed.length !== range.size) throw new SegmentFault(`it has ${packed.length} bytes`);
  const { header, bodies } = await readLines(packed);
  if (header !== JSON.stringify(headerOf(organizationId, range))) throw new SegmentFault('it is of another range');
  return bodies;
}

export interface UnknownSegment {
  groupId: string;
  bodies: SegmentBodies;
}

/** Of bytes that no row names. Throws SegmentFault. */
export async function readSegment(bytes: AsyncIterable<Uint8Array>): Promise<UnknownSegment> {
  const packed = await whole(bytes);
  try {
    const { header, bodies } = await readLines(packed);
    return { groupId: (JSON.parse(header) as SegmentRange).groupId, bodies };
  } catch (error) {
    if (error instanceof SyntaxError) throw new SegmentFault('it has a line that is no JSON');
    throw error;
  }
}

async function whole(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readLines(packed: Buffer): Promise<{ header: string; bodies: SegmentBodies }> {
  const text = await unpacked(packed);
  const [header = '', ...lines] = text.split('\n');
  if (lines.pop() !== '') throw new SegmentFault('its last line has no end');
  const bodies: SegmentBodies = { events: new Map(), commands: new Map(), documents: new Map() };
  for (const line of lines) take(line, bodies);
  return { header, bodies };
}

async function unpacked(bytes: Buffer): Promise<string> {
  try {
    return (await gunzip(bytes, { maxOutputLength: OPENED_MAXIMUM })).toString('utf8');
  } catch (error) {
    throw new SegmentFault(`it cannot be unpacked: ${(error as Error).message}`);
  }
}

function headerOf(organizationId: string, range: SegmentRange) {
  const { groupId, firstSequence, lastSequence, firstRevision, lastRevision } = range;
  return { format: FORMAT, organizationId, groupId, firstSequence, lastSequence, firstRevision, lastRevision };
}

function take(line: string, { events, commands, documents }: SegmentBodies): void {
  const [what, key, body] = JSON.parse(line) as [string, number | string, string];
  if (what === 'event') events.set(key as number, body);
  else if (what === 'command') commands.set(key as string, body);
  else if (what === 'document') documents.set(key as string, body);
  else throw new SegmentFault(`it has a line of ${what}`);
}
