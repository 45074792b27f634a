// The bounded window in which a newly presented Command must have been issued (MWP-ADM-013). Apart from admission: a
// late retry of an accepted Command never comes here.

import { compareInstants, parseTimestamp, type Instant } from '../protocol/timestamps.ts';
import { trustFailure, type TrustFailure } from './outcome.ts';

/** Whole seconds. */
export interface FreshnessWindow {
  readonly maxAgeSeconds: number;
  /** How far the signer's clock may be ahead. */
  readonly maxSkewSeconds: number;
}

/** Exact to the last digit; both edges are inside. Undefined means fresh. */
export function freshnessFailure(issuedAt: string, now: string, window: FreshnessWindow): TrustFailure | undefined {
  const issued = parseTimestamp(issuedAt);
  const present = parseTimestamp(now);
  if (issued === undefined || present === undefined) return trustFailure('admission', 'freshness-time-malformed');
  if (compareInstants(later(issued, window.maxAgeSeconds), present) < 0) {
    return trustFailure('admission', 'issued-too-long-ago');
  }
  if (compareInstants(issued, later(present, window.maxSkewSeconds)) > 0) {
    return trustFailure('admission', 'issued-too-far-ahead');
  }
  return undefined;
}

function later(instant: Instant, seconds: number): Instant {
  return { ...instant, epochSeconds: instant.epochSeconds + seconds };
}
