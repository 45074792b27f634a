// What comes back from the authority: a value or a problem, never an exception, and beside each problem what to do next.

import type { ProtocolError } from '../protocol/documents/error.ts';
import type { ErrorCode } from '../protocol/refusals.ts';

export type Outcome<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: Problem };

export type Problem = Refused | Unreachable | Aborted | Unreadable;

/** The authority said no. Nothing changed there. */
export interface Refused {
  readonly kind: 'refused';
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  readonly error: ProtocolError;
}

/** No answer: the request may have been carried out or not. The identical bytes are safe to send again. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly message: string;
}

/** The caller's own AbortSignal. What was sent may still be carried out. */
export interface Aborted {
  readonly kind: 'aborted';
  readonly message: string;
}

/** An answer that is none of the authority's: a proxy's page, or a body beyond the bound. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly status: number;
  readonly message: string;
}

export type RetryAdvice =
  /** Send the identical bytes again after that many milliseconds; the Action ID makes it safe. */
  | { readonly next: 'resend'; readonly afterMs: number }
  /** The token has run out: log in or refresh, then send the identical bytes again. */
  | { readonly next: 'log_in' }
  /** Another session of this Agent took over. Open a new one and sign anew, if this process is still in charge. */
  | { readonly next: 'open_session' }
  /** The world moved: read it, decide again, and sign a new Command with a new Action ID. */
  | { readonly next: 'read_again' }
  /** Waiting changes nothing. */
  | { readonly next: 'give_up' };

const RESEND_AFTER_MS = 250;

const MOVED_ON: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'REVISION_CONFLICT',
  'MEMBERSHIP_STALE',
  'AUTH_STALE_COORDINATOR',
  'WORK_STALE_OWNERSHIP',
  'WORK_ALREADY_OWNED',
  'WORK_OFFER_EXPIRED',
  'WORK_LEASE_EXPIRED',
  'INVALID_STATE_TRANSITION',
]);

export function adviceFor(problem: Problem): RetryAdvice {
  switch (problem.kind) {
    case 'unreachable':
      return { next: 'resend', afterMs: RESEND_AFTER_MS };
    case 'aborted':
      return { next: 'give_up' };
    case 'unreadable':
      return problem.status >= 500 ? { next: 'resend', afterMs: RESEND_AFTER_MS } : { next: 'give_up' };
    case 'refused':
      return adviceForRefusal(problem);
  }
}

function adviceForRefusal({ code, error }: Refused): RetryAdvice {
  if (error.retryable) return { next: 'resend', afterMs: error.retryAfterMs ?? RESEND_AFTER_MS };
  if (code === 'AUTH_REQUIRED') return { next: 'log_in' };
  if (code === 'AUTH_STALE_SESSION') return { next: 'open_session' };
  return { next: MOVED_ON.has(code) ? 'read_again' : 'give_up' };
}

export function done<Value>(value: Value): Outcome<Value> {
  return { ok: true, value };
}

export function failed(problem: Problem): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem };
}

/** One line for a log or an error message. */
export function describeProblem(problem: Problem): string {
  return problem.kind === 'refused' ? `${problem.code}: ${problem.message}` : `${problem.kind}: ${problem.message}`;
}
