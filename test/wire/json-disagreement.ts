// The strict reader and the reference grammar about one text: what they say differently, if anything.
import { isDeepStrictEqual } from 'node:util';
import { tryCanonicalText } from '../../src/wire/canonical.ts';
import { MAX_JSON_BYTES, MAX_JSON_DEPTH, parseStrictJson, type JsonBounds } from '../../src/wire/strict-json.ts';
import { readJson } from './reference-json.ts';

const SHOWN_BYTES = 300;

export interface Comparison {
  /** `accepted`, or the fault that the reference sees. */
  verdict: string;
  disagreement?: string;
}

export function compareReaders(input: Uint8Array | string, bounds: JsonBounds = {}): Comparison {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  const ours = parseStrictJson(bytes, bounds);
  const reference = readJson(bytes, {
    maxBytes: bounds.maxBytes ?? MAX_JSON_BYTES,
    maxDepth: bounds.maxDepth ?? MAX_JSON_DEPTH,
  });
  const disagree = (verdict: string, said: string): Comparison => {
    const shown = Buffer.from(bytes.subarray(0, SHOWN_BYTES));
    return { verdict, disagreement: `${said}: ${JSON.stringify(shown.toString())} = ${shown.toString('hex')}` };
  };
  if (!reference.accepted) {
    const verdict = reference.fault;
    if (ours.ok) return disagree(verdict, `accepted, which is ${verdict}`);
    if (ours.fault === verdict || (reference.isDepthOpen && ours.fault === 'too-deep')) return { verdict };
    return disagree(verdict, `${ours.fault}, which is ${verdict}`);
  }
  const [first] = reference.modelFaults;
  const verdict = first ?? 'accepted';
  if (!ours.ok) return disagree(verdict, `refused as ${ours.fault}, which is ${verdict}`);
  if (!isDeepStrictEqual(ours.value, reference.value)) return disagree(verdict, 'another value');
  if (tryCanonicalText(ours.value).ok !== (first === undefined)) return disagree(verdict, 'canonical bytes or none');
  // Of two faults the reader notes one.
  const isNoted = ours.dataModelFault === undefined ? !first : reference.modelFaults.has(ours.dataModelFault);
  return isNoted ? { verdict } : disagree(verdict, `noted ${ours.dataModelFault}, which is ${verdict}`);
}

/** Of many texts: what was disagreed about, and how often the reference said what. */
export function compareAll(inputs: Iterable<Uint8Array | string>, bounds: JsonBounds = {}) {
  const disagreements: string[] = [];
  const verdicts: Record<string, number> = {};
  for (const input of inputs) {
    const { verdict, disagreement } = compareReaders(input, bounds);
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    if (disagreement !== undefined) disagreements.push(disagreement);
  }
  return { disagreements, verdicts };
}
