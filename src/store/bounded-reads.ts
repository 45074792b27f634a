// The bounds of reads, in one place for both engines: pages are cut, lists of a decision are whole or a fault.
import type { AggregateKind } from '../domain/aggregates.ts';
import type { ListRead } from '../domain/reads.ts';
import { LIST_READ_MAXIMUM } from '../domain/reads.ts';
import { StoreFault } from './port.ts';

/** Rows of one page, whatever the caller asks for. */
export const PAGE_MAXIMUM = LIST_READ_MAXIMUM;

export function pageLimit(wanted: number): number {
  return Math.min(wanted, PAGE_MAXIMUM);
}

/** Without one of the three there is no index to go by, and the answer would be a part of the Organization. */
export function checkListRead({ kind, groupId, holder, parent }: ListRead): void {
  if (groupId === undefined && holder === undefined && parent === undefined) {
    throw new Error(`a list of ${kind} names no Group, holder or parent`);
  }
}

/**
 * Does one more row fit a list of this kind? A decision on part of a list would be a wrong one, and is a fault; but whoever
 * asks for Artifacts of one content asks whether there are any, and their number is nobody's to bound.
 */
export function fitsList(kind: AggregateKind, length: number): boolean {
  if (length <= LIST_READ_MAXIMUM) return true;
  if (kind === 'artifact') return false;
  throw new StoreFault('corrupt', 'a list is too long to decide on');
}
