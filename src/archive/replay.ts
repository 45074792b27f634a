// Rebuilds a Group from its stored Events alone and says where the stored state, the order or the chain disagrees
// (design section 3: replay equivalence). It reads in pages and folds with the same `evolve` as the authority.
import { eventKindOf } from '../domain/events/catalogue.ts';
import { evolve } from '../domain/evolve.ts';
import type { FoldableEvent } from '../domain/decider.ts';
import { View } from '../domain/view.ts';
import type { EventRow, Reader } from '../store/port.ts';
import { signingHash } from '../trust/signing.ts';
import { canonicalHash, canonicalText } from '../wire/canonical.ts';
import { chainNext, chainStart } from '../wire/chain.ts';
import { commitPayload } from '../wire/commitments.ts';
import { stateDocument, stateHash } from '../wire/state-document.ts';

/** Events read in one go: about 3 MB. */
const PAGE = 1_000;

export interface ReplayReport {
  streamId: string;
  events: number;
  /** Of the folded state; absent for streams of the Organization. */
  stateHash?: string;
  /** Sentences; empty when all agrees. */
  faults: string[];
}

export async function replayStream(organizationId: string, streamId: string, reader: Reader): Promise<ReplayReport> {
  const head = await reader.stream(streamId);
  const report: ReplayReport = { streamId, events: 0, faults: [] };
  if (!head) return { ...report, faults: ['the stream does not exist'] };
  const view = new View({ complete: true });
  let chainHash = chainStart(organizationId, streamId);
  let isGroup = true;
  let folds = true;
  for (;;) {
    const page = await reader.events(streamId, report.events, PAGE);
    for (const row of page) {
      report.events += 1;
      isGroup = row.groupId === streamId;
      chainHash = chainNext(chainHash, row.signingHash);
      report.faults.push(...rowFaults(row, report.events, chainHash));
      folds &&= fold(view, row, report);
    }
    if (page.length < PAGE) break;
  }
  if (head.position !== report.events) report.faults.push(`the head says ${head.position}, there are ${report.events}`);
  if (head.chainHash !== chainHash) report.faults.push('the chain does not end where the head says');
  if (isGroup && folds) await compareState(organizationId, streamId, view, reader, report);
  return report;
}

/** False where the Events so far give no state: after a gap or a change, the rest is only counted and chained. */
function fold(view: View, row: EventRow, report: ReplayReport): boolean {
  try {
    evolve(view, foldableOf(row));
    return true;
  } catch (error) {
    report.faults.push(`the Event at ${row.position} cannot be folded: ${(error as Error).message}`);
    return false;
  }
}

function rowFaults(row: EventRow, expected: number, chainHash: string): string[] {
  const faults: string[] = [];
  const event = JSON.parse(row.body) as Record<string, unknown>;
  if (row.position !== expected) faults.push(`position ${row.position} where ${expected} was due`);
  if (row.chainHash !== chainHash) faults.push(`the chain breaks at ${row.position}`);
  if (signingHash(event) !== row.signingHash) faults.push(`the body at ${row.position} is not what was signed`);
  if (canonicalText(event) !== row.body) faults.push(`the body at ${row.position} is not in canonical form`);
  if (event['eventId'] !== row.eventId || event['kind'] !== row.kind || event['occurredAt'] !== row.occurredAt) {
    faults.push(`the columns at ${row.position} differ from the body`);
  }
  return faults;
}

export function foldableOf(row: EventRow): FoldableEvent {
  const event = JSON.parse(row.body) as FoldableEvent;
  return { ...event, payload: commitPayload(event.payload, eventKindOf(event.kind).erasable).payload };
}

async function compareState(
  organizationId: string,
  groupId: string,
  view: View,
  reader: Reader,
  report: ReplayReport,
): Promise<void> {
  const folded = view.all().map(({ kind, id, document }) => ({ kind, id, hash: canonicalHash(document) }));
  const stored = await reader.aggregateHashes(groupId);
  const byKey = new Map(stored.map(({ kind, id, hash }) => [`${kind} ${id}`, hash]));
  for (const { kind, id, hash } of folded) {
    const key = `${kind} ${id}`;
    if (byKey.get(key) !== hash) report.faults.push(`${key}: the stored state is not what the Events say`);
    byKey.delete(key);
  }
  for (const key of byKey.keys()) report.faults.push(`${key}: stored, though no Event says so`);
  report.stateHash = stateHash(stateDocument(organizationId, groupId, folded));
}
