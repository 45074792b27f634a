// What the runner and a service under fault say to each other.
import type { NamedPoint } from '../../src/store/port.ts';

/** Counted from when it is heard. */
export interface Trap {
  point: NamedPoint;
  /** Passings count once this one was passed. */
  after?: NamedPoint;
  passing: number;
  signal: 'SIGKILL' | 'SIGSTOP';
}

export type Order = { order: 'start'; environment: Record<string, string> } | { order: 'trap'; trap: Trap };

export type ChildNews = { news: 'loaded' } | { news: 'serving'; url: string } | { news: 'failed'; why: string };
