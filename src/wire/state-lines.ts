// The state of a Group as lines of JSON: how a state pack keeps it, how the authority streams it, and how a line is read.
// Nothing here is signed: each document counts by its hash, and all of them by the state hash of a signed snapshot.
import { isJsonObject, type JsonObject } from '../protocol/documents/json-value.ts';
import { STATE_FORMAT } from './state-document.ts';
import { parseStrictJson } from './strict-json.ts';

/** One aggregate document; the largest is a Mission with a thousand WorkItems, some hundred kB. */
export const STATE_LINE_MAXIMUM = 16_777_216;
/** Deeper than a Command, whose free JSON a document may hold, by what stands around it. */
const DEPTH_MAXIMUM = 96;

/** One aggregate in a state pack. */
export interface PackLine {
  kind: string;
  id: string;
  groupId: string;
  /** How many transitions changed it. */
  version: number;
  document: JsonObject;
}

/** The first line of a streamed state. */
export interface StateHeader {
  format: number;
  organizationId: string;
  groupId: string;
  throughSequence: number;
  stateHash: string;
  /** Lines that follow, each one aggregate. */
  aggregates: number;
}

export interface AggregateLine {
  kind: string;
  id: string;
  document: JsonObject;
}

export function lineText(line: PackLine | StateHeader | AggregateLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Undefined for anything else than a line of a pack. */
export function readPackLine(bytes: Uint8Array): PackLine | undefined {
  const line = readObject(bytes);
  if (!line || !isAggregate(line) || typeof line['groupId'] !== 'string') return undefined;
  return Number.isSafeInteger(line['version']) ? (line as unknown as PackLine) : undefined;
}

/** Undefined for anything else, and for a format that is not known here. */
export function readStateHeader(bytes: Uint8Array): StateHeader | undefined {
  const line = readObject(bytes);
  if (line?.['format'] !== STATE_FORMAT) return undefined;
  const texts = ['organizationId', 'groupId', 'stateHash'].every((name) => typeof line[name] === 'string');
  const numbers = ['throughSequence', 'aggregates'].every((name) => Number.isSafeInteger(line[name]));
  return texts && numbers ? (line as unknown as StateHeader) : undefined;
}

/** Undefined for anything else. */
export function readAggregateLine(bytes: Uint8Array): AggregateLine | undefined {
  const line = readObject(bytes);
  return line && isAggregate(line) ? (line as unknown as AggregateLine) : undefined;
}

function isAggregate({ kind, id, document }: JsonObject): boolean {
  return typeof kind === 'string' && typeof id === 'string' && isJsonObject(document);
}

function readObject(bytes: Uint8Array): JsonObject | undefined {
  const json = parseStrictJson(bytes, { maxBytes: STATE_LINE_MAXIMUM, maxDepth: DEPTH_MAXIMUM });
  if (!json.ok || json.dataModelFault !== undefined || !isJsonObject(json.value)) return undefined;
  return json.value;
}
