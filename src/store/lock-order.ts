// Group heads are locked in the byte order of their ids, and never backwards: that is what keeps two acceptances from
// waiting for each other (design section 4, step 2).

export interface LockedGroups {
  /** Throws when one of them sorts before one that is held; a broken invariant of the caller. */
  add(groupIds: readonly string[]): void;
}

export function lockedGroups(first: readonly string[]): LockedGroups {
  const held = new Set(first);
  return {
    add(groupIds) {
      const last = [...held].reduce((a, b) => (compareBytes(a, b) < 0 ? b : a), '');
      const early = groupIds.find((id) => !held.has(id) && compareBytes(id, last) < 0);
      if (early !== undefined) throw new Error(`Group ${early} sorts before ${last}, which is locked already`);
      for (const id of groupIds) held.add(id);
    },
  };
}

/** Both databases compare UTF-8 bytes; JavaScript's `<` compares UTF-16 units. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
