// One accepted transition of one stream as it was recorded, wherever it was recorded: the rows of a store or the lines of a
// bundle. Knows how a Command is read again and which Signed Documents stand in it.
import { commandKindOf } from '../domain/commands/catalogue.ts';
import { preparePayload } from '../domain/decide.ts';
import type { EmbeddedDocument } from '../domain/decider.ts';
import { isJsonObject } from '../protocol/documents/json-value.ts';
import type { AdmissionRow, CommandRow, DocumentRow, EventRow, PolicyLogRow, ReceiptRow } from '../store/port.ts';
import type { RenditionRow, WithheldRow } from '../store/port/withheld.ts';
import { readDocument, type ReadResult } from '../trust/verify.ts';
import { sha256Label, tryCanonicalText } from '../wire/canonical.ts';
import type { RecordedSnapshot } from './snapshot/recorded.ts';

export interface RecordedTransition {
  revision: number;
  /** Absent: the row is missing. */
  logHash: string | undefined;
  /** Of this stream, in order. */
  events: EventRow[];
  /** What was accepted; all Events of a transition name it. */
  command: RecordedCommand | undefined;
  /** By signing hash: of the Command and of the documents in it. */
  admissions: ReadonlyMap<string, AdmissionRow>;
  documents: ReadonlyMap<string, DocumentRow>;
  receipt: ReceiptRow | undefined;
  /** The receipt's Events in other streams; undefined where only this stream is known. */
  elsewhere: EventRow[] | undefined;
  policyLog: PolicyLogRow[];
  /** Marks on its Events. */
  withheld: WithheldRow[];
  renditions: RecordedRendition[];
  /** Of a bundle: the snapshots of its end. */
  snapshots?: RecordedSnapshot[];
  /** Of a bundle: the sequence where a sealed segment ended. */
  sealedThrough?: number;
}

export interface RecordedRendition {
  row: RenditionRow;
  /** Absent: the record is missing. */
  admission: AdmissionRow | undefined;
}

export interface RecordedCommand {
  row: CommandRow;
  read: ReadResult<'command'>;
  /** Each document once, in the order in which they stand in the payload. */
  embedded: Embedded[];
  /** Why the documents could not be looked for. */
  fault?: string;
}

export interface Embedded extends EmbeddedDocument {
  signingHash: string;
}

export function readCommand(row: CommandRow): RecordedCommand {
  const read = readDocument('command', { bytes: Buffer.from(row.body, 'utf8') });
  if (!read.ok) return { row, read, embedded: [] };
  const kind = commandKindOf(read.document.kind);
  if (!kind) return { row, read, embedded: [], fault: `the kind ${read.document.kind} is not known here` };
  const { payload } = preparePayload(kind, read.document);
  if (!payload.ok) return { row, read, embedded: [], fault: 'its payload does not fit its kind' };
  const embedded = new Map<string, Embedded>();
  for (const document of kind.documents?.(payload.value) ?? []) {
    const hash = signingHashOf(document.value);
    if (hash === undefined) return { row, read, embedded: [], fault: `${document.path} cannot be hashed` };
    if (!embedded.has(hash)) embedded.set(hash, { ...document, signingHash: hash });
  }
  return { row, read, embedded: [...embedded.values()] };
}

/** Of what may not even be a document. */
export function signingHashOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { signature: _signature, ...rest } = value;
  const form = tryCanonicalText(rest);
  return form.ok ? sha256Label(form.text) : undefined;
}
