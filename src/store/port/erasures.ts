// What is still to be destroyed, one row for each Event that orders an erasure (decision 33). Written with the marks, it only
// moves forward: the bodies leave their rows, then what held them beside the rows goes, then what a database keeps of deleted
// bytes.
import type { OrganizationId } from '../../protocol/ids.ts';

/**
 * `due`: marked, nothing destroyed. `taken`: no row and no segment that a row names holds the bodies. `removed`: neither do
 * blobs that no row names. `scrubbed`: nor what the database had kept of deleted bytes.
 */
export type ErasureState = 'due' | 'taken' | 'removed' | 'scrubbed';

export interface ErasureRow {
  /** The Event that orders it. */
  orderedBy: string;
  groupId: string;
  /** All Events that it marked lie between these, both included; others do, too. */
  firstSequence: number;
  lastSequence: number;
  state: ErasureState;
  /** Addresses of segments from before: to be removed while it is `taken`. */
  blobs: string[];
  recordedAt: string;
}

/** What goes, as it was found. */
export interface TakenBodies {
  /** Marked Events, all of them: their texts go. */
  eventIds: string[];
  /** Sequences of those whose bodies lie in their rows. */
  events: number[];
  /** Signing hashes of those whose bodies lie in their rows. */
  commands: string[];
  documents: string[];
  /** Segments without the bodies; each is stored already. `before`: the address that its row has now. */
  segments: { position: number; before: string; hash: string; size: number }[];
}

export interface ErasureStore {
  /** By `orderedBy`, after this one. */
  inState(organizationId: OrganizationId, state: ErasureState, after: string, limit: number): Promise<ErasureRow[]>;

  /** Undefined: no such erasure. */
  state(organizationId: OrganizationId, orderedBy: string): Promise<ErasureState | undefined>;

  /**
   * Takes all of it out in one transaction, and notes which blobs are to be removed. False: it is not due any more, a mark has
   * no rendition yet, or a body lies elsewhere than it was found (sealed meanwhile, or sealed anew); then nothing changed.
   */
  take(organizationId: OrganizationId, orderedBy: string, taken: TakenBodies): Promise<boolean>;

  /** Its blobs are gone. Safe to call twice. */
  removed(organizationId: OrganizationId, orderedBy: string): Promise<void>;

  /** Which of these addresses a segment of the Organization has now: asked for all there are, so no index is kept for it. */
  sealedAt(organizationId: OrganizationId, hashes: string[]): Promise<string[]>;

  /** Where the service itself may do it. PostgreSQL: `mwp scrub`, by the owner of the tables. */
  readonly scrubbing?: Scrubbing;
}

export interface Scrubbing {
  /** Rewrites the database without what it keeps of deleted bytes. StoreFault 'busy': a reader is in the way. */
  scrub(): Promise<void>;
  /** Was removed before a scrub that is done. Safe to call twice. */
  scrubbed(organizationId: OrganizationId, orderedBy: string): Promise<void>;
}
