// Accepted transitions as the one call that writes them, on the hosted store. Sibling of sqlite/writing.ts.
import {
  admissionToRecord,
  commandToRecord,
  documentToRecord,
  policyLogToRecord,
  receiptToRecord,
} from '../evidence-records.ts';
import { StoreFault, type Transition } from '../port.ts';
import {
  advanceToRecord,
  aggregateToRecord,
  eventToRecord,
  isCreation,
  textToRecord,
  type AdvanceRecord,
  type AggregateRecord,
} from '../stream-records.ts';
import type { Statement } from './session.ts';

export const WRITE = 'SELECT mwp.write_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)';
export const WRITE_PARAMETERS = 12;

export function writeStatement(organizationId: string, transitions: readonly Transition[]): Statement {
  const all = <Row, Record>(rowsOf: (transition: Transition) => Row[], toRecord: (row: Row) => Record): Record[] =>
    transitions.flatMap((transition) => rowsOf(transition).map(toRecord));
  const advances = all(({ streams }) => streams, advanceToRecord);
  const aggregates = lastOfEach(all(({ aggregates: changes }) => changes, aggregateToRecord));
  return {
    text: WRITE,
    parameters: [
      organizationId,
      lastHeads(advances),
      advances.map(({ stream_id, revision, log_hash }) => ({ stream_id, revision, log_hash })),
      all(({ events }) => events, eventToRecord),
      orNull(aggregates.filter(({ expected }) => expected > 0)),
      orNull(aggregates.filter(({ expected }) => expected === 0)),
      orNull(all(({ texts }) => texts, textToRecord)),
      transitions.map(({ command }) => commandToRecord(command)),
      orNull(all(({ documents }) => documents, documentToRecord)),
      orNull(all(({ admissions }) => admissions, admissionToRecord)),
      transitions.map(({ receipt }) => receiptToRecord(receipt)),
      orNull(all(({ policyLog }) => policyLog, policyLogToRecord)),
    ],
  };
}

/** Each head once: expected where the first found it, moved to where the last left it. */
function lastHeads(advances: readonly AdvanceRecord[]): (AdvanceRecord & { is_new: boolean })[] {
  const heads = new Map<string, AdvanceRecord & { is_new: boolean }>();
  for (const advance of advances) {
    const before = heads.get(advance.stream_id);
    if (before && before.position !== advance.expected)
      throw new StoreFault('conflict', 'a stream is not where it was');
    const { expected, is_new } = before ?? { ...advance, is_new: isCreation(advance) };
    heads.set(advance.stream_id, { ...advance, expected, is_new });
  }
  return [...heads.values()];
}

/** Each aggregate once: expected in the version that the first found, stored as the last made it. */
function lastOfEach(changes: readonly AggregateRecord[]): (AggregateRecord & { expected: number })[] {
  const last = new Map<string, AggregateRecord & { expected: number }>();
  for (const change of changes) {
    const key = `${change.kind} ${change.id}`;
    const before = last.get(key);
    if (before && (before.version !== change.version || before.group_id !== change.group_id)) {
      throw new StoreFault('conflict', 'an aggregate is not what it was');
    }
    const expected = before?.expected ?? change.version;
    last.set(key, { ...change, expected, version: change.version + 1 });
  }
  return [...last.values()];
}

/** Most transitions leave most tables alone. */
function orNull(records: object[]): object[] | null {
  return records.length === 0 ? null : records;
}
