// Where a member keeps what it knows of one Group between two runs. All of it can be made again from the authority, so losing
// it changes nothing (MWP-FND-023b).

import type { GroupFold } from './group-fold.ts';

export interface ProjectionStore {
  /** What was kept last. Undefined where nothing of this Group lies there whole: it is replayed then. */
  load(): Promise<GroupFold | undefined>;
  /**
   * State and Cursor in one step, durable when it resolves; before, the earlier ones stand. Reads the fold at once, which
   * may go on meanwhile. One call at a time. Rejects where it cannot be written.
   */
  advance(fold: GroupFold): Promise<void>;
}

/** Keeps nothing over a restart. */
export const IN_MEMORY: ProjectionStore = {
  load: () => Promise.resolve(undefined),
  advance: () => Promise.resolve(),
};
