// The bounds of reads, in one place for both engines: pages are cut, lists of a decision are whole or a fault.
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

/** A decision on part of a list would be a wrong one. */
export function checkListLength(length: number): void {
  if (length > LIST_READ_MAXIMUM) throw new StoreFault('corrupt', 'a list is too long to decide on');
}
