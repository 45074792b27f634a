// Erasures as the tables spell them, for both adapters. Knows no SQL.
import type { ErasureRow, ErasureState } from './port/erasures.ts';
import type { WithheldRow } from './port/withheld.ts';

export interface ErasureRecord {
  ordered_by: string;
  group_id: string;
  first_sequence: number;
  last_sequence: number;
  state: ErasureState;
  /** JSON text. */
  blobs: string;
  recorded_at: string;
}

/** One for each Event among these that orders an erasure. */
export function erasuresOf(marks: readonly WithheldRow[]): ErasureRecord[] {
  const ordered = new Map<string, ErasureRecord>();
  for (const { cause, orderedBy, groupId, position, recordedAt } of marks) {
    if (cause !== 'erased') continue;
    const known = ordered.get(orderedBy);
    ordered.set(orderedBy, {
      ordered_by: orderedBy,
      group_id: groupId,
      first_sequence: Math.min(known?.first_sequence ?? position, position),
      last_sequence: Math.max(known?.last_sequence ?? position, position),
      state: 'due',
      blobs: '[]',
      recorded_at: recordedAt,
    });
  }
  return [...ordered.values()];
}

export function erasureFromRecord(record: ErasureRecord): ErasureRow {
  return {
    orderedBy: record.ordered_by,
    groupId: record.group_id,
    firstSequence: record.first_sequence,
    lastSequence: record.last_sequence,
    state: record.state,
    blobs: JSON.parse(record.blobs) as string[],
    recordedAt: record.recorded_at,
  };
}
