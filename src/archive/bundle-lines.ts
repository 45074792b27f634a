// The lines of an exported Group: what kinds there are, which members each has, and how a line is read that a stranger may
// have written. NDJSON, one row a line, each line in the one spelling that JSON.stringify gives it.
import { isJsonObject } from '../protocol/documents/json-value.ts';
import type { Principal } from '../protocol/principals.ts';
import type {
  AdmissionRow,
  CommandRow,
  DocumentRow,
  EventRow,
  PolicyLogRow,
  ReceiptRow,
  SnapshotRow,
  StreamHead,
} from '../store/port.ts';
import type { RenditionRow, WithheldRow } from '../store/port/withheld.ts';
import type { KeyBinding } from '../trust/evidence.ts';
import { parseStrictJson } from '../wire/strict-json.ts';

export const BUNDLE_FORMAT = 2;
/** Written before snapshots stood in bundles. */
export const FORMAT_WITHOUT_SNAPSHOTS = 1;
/** Signed with the statement, so that the signature can be taken for nothing else. */
export const STATEMENT_PURPOSE = 'mwp-authority: an exported Group, whole up to its head';

export interface HeaderLine {
  format: number;
  line: 'header';
  organizationId: string;
  authority: Principal;
  groupId: string;
  exportedAt: string;
  head: StreamHead;
}

export interface StatementLine {
  line: 'statement';
  purpose: string;
  organizationId: string;
  groupId: string;
  exportedAt: string;
  /** Every binding and end that the Registry held at this revision of the keys above is above. */
  registryRevision: number;
  head: StreamHead;
  stateHash: string;
  /** Lines before this one, and the hash of their bytes. */
  lines: number;
  sha256: string;
  keyId: string;
  /** base64url, over the canonical form of everything else. */
  signature: string;
}

export type BundleLine =
  | HeaderLine
  | { line: 'key'; binding: KeyBinding }
  | { line: 'transition'; revision: number; logHash: string }
  | { line: 'command'; row: CommandRow }
  | { line: 'document'; row: DocumentRow }
  | { line: 'admission'; row: AdmissionRow }
  | { line: 'event'; row: EventRow }
  | { line: 'receipt'; row: ReceiptRow }
  | { line: 'policy'; row: PolicyLogRow }
  | { line: 'withheld'; row: WithheldRow }
  | { line: 'rendition'; row: RenditionRow; admission: AdmissionRow }
  | { line: 'segment'; lastSequence: number }
  | { line: 'snapshot'; row: SnapshotRow; admission: AdmissionRow }
  | StatementLine;

/** Told as it is to whoever holds the bundle. */
export class BundleFault extends Error {}

type Shape = { readonly [name: string]: Member };
type Member = 'text' | 'number' | 'number or null' | 'texts' | 'history' | Shape;

const PRINCIPAL: Shape = { type: 'text', id: 'text' };
const texts = (names: string): Shape => Object.fromEntries(names.split(' ').map((name) => [name, 'text']));
const HEAD: Shape = {
  ...texts('streamId lastEventAt chainHash logHash rootGroupId'),
  position: 'number',
  revision: 'number',
  policyPosition: 'number',
};

const ADMISSION: Shape = {
  ...texts('signingHash admissionRecordId documentKind keyId trustedAcceptedAt streamId record'),
  principal: PRINCIPAL,
  acceptedBy: PRINCIPAL,
  revision: 'number',
};

const SHAPES: Readonly<Record<BundleLine['line'], Shape>> = {
  header: {
    ...texts('line organizationId groupId exportedAt'),
    format: 'number',
    authority: PRINCIPAL,
    head: HEAD,
  },
  key: {
    line: 'text',
    binding: { ...texts('keyId algorithm publicKey validFrom'), principal: PRINCIPAL, history: 'history' },
  },
  transition: { ...texts('line logHash'), revision: 'number' },
  command: {
    line: 'text',
    row: { ...texts('signingHash actionId kind groupId keyId issuedAt body'), actor: PRINCIPAL },
  },
  document: {
    line: 'text',
    row: { ...texts('signingHash documentKind groupId keyId commandHash body'), principal: PRINCIPAL },
  },
  admission: { line: 'text', row: ADMISSION },
  event: {
    line: 'text',
    row: {
      ...texts('streamId eventId kind groupId occurredAt commandHash signingHash keyId chainHash admissionRecordId'),
      ...texts('trustedAcceptedAt body'),
      position: 'number',
      revision: 'number',
      aggregateRevision: 'number or null',
      actor: PRINCIPAL,
    },
  },
  receipt: {
    line: 'text',
    row: {
      ...texts('actionId signingHash keyId streamId primaryEventId acceptedAt body'),
      actor: PRINCIPAL,
      revision: 'number',
      eventIds: 'texts',
    },
  },
  policy: {
    line: 'text',
    row: {
      ...texts('groupId entryId decision occurredAt details eventId'),
      actor: PRINCIPAL,
      position: 'number',
      revision: 'number',
    },
  },
  withheld: {
    line: 'text',
    row: { ...texts('groupId eventId cause reasonCode orderedBy recordedAt'), position: 'number' },
  },
  rendition: {
    line: 'text',
    row: { ...texts('groupId eventId cause signingHash keyId signedAt body'), position: 'number' },
    admission: ADMISSION,
  },
  segment: { line: 'text', lastSequence: 'number' },
  snapshot: {
    line: 'text',
    row: {
      ...texts('groupId snapshotId signingHash artifactHash stateHash packs createdAt body'),
      position: 'number',
      throughSequence: 'number',
    },
    admission: ADMISSION,
  },
  statement: {
    ...texts('line purpose organizationId groupId exportedAt stateHash sha256 keyId signature'),
    registryRevision: 'number',
    lines: 'number',
    head: HEAD,
  },
};

/** Throws BundleFault. */
export function readLine(bytes: Uint8Array, number: number, maxBytes: number): BundleLine {
  const fault = (what: string) => new BundleFault(`line ${number}: ${what}`);
  const json = parseStrictJson(bytes, { maxBytes });
  if (!json.ok) throw fault(`not one strict JSON value: ${json.fault}`);
  const { value } = json;
  if (!isJsonObject(value) || typeof value['line'] !== 'string') throw fault('not a line of a bundle');
  if (!Object.hasOwn(SHAPES, value['line'])) throw fault('a kind of line that is not known here');
  const shape = SHAPES[value['line'] as BundleLine['line']];
  const wrong = wrongMember(value, shape);
  if (wrong !== undefined) throw fault(`${value['line']}: ${wrong}`);
  if (JSON.stringify(value) !== Buffer.from(bytes).toString('utf8')) throw fault('not in the spelling of an export');
  return value as unknown as BundleLine;
}

function wrongMember(value: unknown, shape: Shape): string | undefined {
  if (!isJsonObject(value)) return 'a member is no object';
  if (Object.keys(value).length !== Object.keys(shape).length) return 'members are missing, or too many';
  for (const [name, member] of Object.entries(shape)) {
    if (!Object.hasOwn(value, name)) return `${name} is missing`;
    if (typeof member === 'object') {
      const wrong = wrongMember(value[name], member);
      if (wrong !== undefined) return `${name}: ${wrong}`;
    } else if (!FITS[member](value[name])) return `${name} is not what it should be`;
  }
  return undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value);

const FITS: Readonly<Record<Exclude<Member, Shape>, (value: unknown) => boolean>> = {
  text: isText,
  number: isNumber,
  'number or null': (value) => value === null || isNumber(value),
  texts: (value) => Array.isArray(value) && value.every(isText),
  history: (value) => Array.isArray(value) && value.every(isValidityRecord),
};

function isValidityRecord(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { sequence, recordedAt, validUntil = '', revokedAt = '', ...more } = value;
  return isNumber(sequence) && [recordedAt, validUntil, revokedAt].every(isText) && Object.keys(more).length === 0;
}
