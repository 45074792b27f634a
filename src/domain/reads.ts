// What a Command file asks to be loaded before it decides. The store answers all reads of a Command in one go.
import type { Principal } from '../protocol/principals.ts';
import type { AggregateKind, Aggregates } from './aggregates.ts';
import type { CooperationLimits } from './policy.ts';

/**
 * No list read of a decision returns more than this; a rule that could meet more must page by itself, or bound what it
 * lists. Only Artifacts of one content can be more, in all Groups together: of these, so many and no others are returned.
 */
export const LIST_READ_MAXIMUM = 10_000;

export type Read = OneRead | ListRead | RecentRead;

/** One aggregate by its id, wherever in the Organization it is. */
export interface OneRead {
  read: 'one';
  kind: AggregateKind;
  id: string;
}

/** All aggregates of a kind that match every member given; at least one of `groupId`, `holder`, `parent`. */
export interface ListRead {
  read: 'list';
  kind: AggregateKind;
  groupId?: string;
  states?: readonly string[];
  holder?: string;
  parent?: string;
}

/**
 * What the newest Events can reach of a limit: those of a kind that an actor caused in a Group within the last seconds,
 * counted up to the limit and no further, so that a read is no longer than the limit is high.
 */
export interface RecentRead {
  read: 'recent';
  groupId: string;
  eventKind: string;
  actor: Principal;
  seconds: number;
  /** The policy's number that the count is compared with. */
  limit: Extract<keyof CooperationLimits, 'messagesPerMinute' | 'proposalsPerMinute'>;
}

/**
 * So far below a limit nothing need be counted: a batch of Commands that are decided one after the other, on one read,
 * does not bridge it.
 */
export const RECENT_MARGIN = 1_000;

export interface LoadedAggregate<K extends AggregateKind = AggregateKind> {
  kind: K;
  id: string;
  /** '' for what is the Organization's own. */
  groupId: string;
  /** Row version: 1 when first stored, one more with each transition that changed it. Compared on write. */
  version: number;
  document: Aggregates[K];
}

export interface RecentCount {
  /**
   * The limit itself stands for it and all above. 0 also where all Events of the Group together, whoever caused them, are
   * fewer than the limit less RECENT_MARGIN.
   */
  count: number;
  /** Timestamp of the oldest Event counted, so at the limit the one whose leaving makes room; absent when there is none. */
  oldest?: string;
}

export interface LoadedReads {
  aggregates: LoadedAggregate[];
  /** In the order of the `recent` reads asked for. */
  recents: RecentCount[];
}

export function one(kind: AggregateKind, id: string): OneRead {
  return { read: 'one', kind, id };
}

export function list(kind: AggregateKind, where: Omit<ListRead, 'read' | 'kind'>): ListRead {
  return { read: 'list', kind, ...where };
}

export function readKey(read: Read): string {
  if (read.read === 'one') return `one ${read.kind} ${read.id}`;
  if (read.read === 'list') {
    const states = read.states?.join(',') ?? '';
    return `list ${read.kind} ${read.groupId ?? ''} ${states} ${read.holder ?? ''} ${read.parent ?? ''}`;
  }
  return `recent ${read.groupId} ${read.eventKind} ${read.actor.type} ${read.actor.id} ${read.seconds}`;
}
