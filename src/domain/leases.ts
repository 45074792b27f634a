// Fenced, half-open leases: live while `now < expiresAt` (design section 4). Closing and renewing in one place.
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { addSeconds, compareTimestamps } from '../protocol/timestamps.ts';
import type { LeaseAggregate } from './aggregates.ts';

export function isLive(lease: LeaseAggregate | undefined, now: string): lease is LeaseAggregate {
  return lease !== undefined && lease.state === 'active' && compareTimestamps(now, lease.expiresAt) < 0;
}

/** `now + seconds`, but no later than any of the given ends. */
export function cappedEnd(now: string, seconds: number, ...ends: (string | undefined)[]): string {
  let end = addSeconds(now, seconds);
  for (const other of ends) if (other !== undefined && compareTimestamps(other, end) < 0) end = other;
  return end;
}

/** The end of a new lease, under the policy's maximum and the deadlines. There is none once a deadline has passed. */
export function grantedEnd(now: string, seconds: number, ...deadlines: (string | undefined)[]): string | Refusal {
  const end = cappedEnd(now, seconds, ...deadlines);
  if (compareTimestamps(now, end) < 0) return end;
  return refuse('INVALID_COMMAND', 'the deadline has passed');
}

export type NewLease = Omit<LeaseAggregate, 'issuedAt' | 'startsAt' | 'state' | 'renewalCount'>;

export function openLease(now: string, lease: NewLease): LeaseAggregate {
  return { ...lease, issuedAt: now, startsAt: now, state: 'active', renewalCount: 0 };
}

/** After its end a lease can only be `expired`, at that end; before, it gets the asked state now (MWP-WRK-014b). */
export function closeLease(
  lease: LeaseAggregate,
  state: 'released' | 'revoked',
  reason: string,
  now: string,
): LeaseAggregate {
  const elapsed = compareTimestamps(now, lease.expiresAt) >= 0;
  return {
    ...lease,
    state: elapsed ? 'expired' : state,
    closedAt: elapsed ? lease.expiresAt : now,
    closureReason: elapsed ? 'expired' : reason,
  };
}

export function renewLease(
  lease: LeaseAggregate,
  expiresAt: string,
  sessionEpoch: number,
  now: string,
): LeaseAggregate {
  return { ...lease, expiresAt, sessionEpoch, renewalCount: lease.renewalCount + 1, lastRenewedAt: now };
}

/** Ownership of an item that returned to `queued`: to be started again before its new end (design section 4). */
export function resumeOwnership(
  lease: LeaseAggregate,
  now: string,
  resumeWindowSeconds: number,
  ...deadlines: string[]
): LeaseAggregate {
  const expiresAt = cappedEnd(now, resumeWindowSeconds, ...deadlines);
  return { ...lease, expiresAt, startBy: expiresAt };
}

/** The same lease with another end, without counting as a renewal: ownership follows execution while active. */
export function moveEnd(lease: LeaseAggregate, expiresAt: string): LeaseAggregate {
  const moved = { ...lease, expiresAt };
  if (moved.startBy !== undefined && compareTimestamps(moved.startBy, expiresAt) > 0) moved.startBy = expiresAt;
  return moved;
}
