// Reads a Group's state from its stream, as the authority sends it and as a member keeps it: all of it, or which check failed.

import { isAggregateKind } from '../domain/aggregate-index.ts';
import type { LoadedAggregate } from '../domain/reads.ts';
import { canonicalHash } from '../wire/canonical.ts';
import { splitLines } from '../wire/lines.ts';
import { stateDocument, stateHash, type AggregateHash } from '../wire/state-document.ts';
import { readAggregateLine, readStateHeader, STATE_LINE_MAXIMUM } from '../wire/state-lines.ts';
import { GroupFold } from './group-fold.ts';

export type StateFault = 'organization' | 'group' | 'sequence' | 'state-unreadable' | 'state-hash';

/** Whose state, and of which sequence and hash where these are known otherwise; else the stream's own count. */
export interface ExpectedState {
  organizationId: string;
  groupId: string;
  throughSequence?: number;
  stateHash?: string;
}

export type ReadState =
  { readonly ok: true; readonly fold: GroupFold } | { readonly ok: false; readonly fault: StateFault };

class StreamFault extends Error {}

/** Throws only what reading the stream throws. */
export async function readState(bytes: AsyncIterable<Uint8Array>, expected: ExpectedState): Promise<ReadState> {
  const lines = splitLines(bytes, STATE_LINE_MAXIMUM, (sentence) => new StreamFault(sentence));
  try {
    return await foldLines(lines, expected);
  } catch (error) {
    if (error instanceof StreamFault) return no('state-unreadable');
    throw error;
  } finally {
    await lines.return(undefined);
  }
}

async function foldLines(lines: AsyncGenerator<Uint8Array>, expected: ExpectedState): Promise<ReadState> {
  const { organizationId, groupId } = expected;
  const first = await lines.next();
  const header = first.done ? undefined : readStateHeader(first.value);
  if (!header) return no('state-unreadable');
  const { throughSequence, stateHash: hash } = header;
  if (header.organizationId !== organizationId) return no('organization');
  if (header.groupId !== groupId) return no('group');
  if (throughSequence !== (expected.throughSequence ?? throughSequence)) return no('sequence');
  if (hash !== (expected.stateHash ?? hash)) return no('state-hash');
  const aggregates: LoadedAggregate[] = [];
  const hashes: AggregateHash[] = [];
  for await (const line of lines) {
    const read = readAggregateLine(line);
    if (!read || !isAggregateKind(read.kind) || hashes.length === header.aggregates) return no('state-unreadable');
    const { kind, id, document } = read;
    hashes.push({ kind, id, hash: canonicalHash(document) });
    aggregates.push({ kind, id, groupId, version: 1, document: document as never });
  }
  if (stateHash(stateDocument(organizationId, groupId, hashes)) !== hash) return no('state-hash');
  return { ok: true, fold: GroupFold.from({ organizationId, groupId, throughSequence }, aggregates) };
}

function no(fault: StateFault): ReadState {
  return { ok: false, fault };
}
