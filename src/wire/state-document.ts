// The Group state document (design section 3): every aggregate by kind, id and hash, sorted; its hash is `stateHash`.
import { canonicalHash } from './canonical.ts';

/** Raised when the form of the aggregates changes; old formats stay foldable. */
export const STATE_FORMAT = 1;

export interface AggregateHash {
  kind: string;
  id: string;
  hash: string;
}

export function aggregateKey({ kind, id }: { kind: string; id: string }): string {
  return `${kind} ${id}`;
}

export interface StateDocument {
  format: number;
  organizationId: string;
  groupId: string;
  aggregates: AggregateHash[];
}

export function stateDocument(organizationId: string, groupId: string, aggregates: AggregateHash[]): StateDocument {
  const sorted = [...aggregates].sort((a, b) => compare(a.kind, b.kind) || compare(a.id, b.id));
  return { format: STATE_FORMAT, organizationId, groupId, aggregates: sorted };
}

export function stateHash(document: StateDocument): string {
  return canonicalHash(document);
}

/** Byte order of UTF-8, which for the ASCII of our ids is the order of JavaScript's strings. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
