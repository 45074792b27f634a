// The per-tenant policy: bounds and rights that the protocol leaves to the Organization. Plain data with defaults.

import { samePrincipal, type Principal } from '../protocol/principals.ts';

export interface LeaseBounds {
  /** Seconds; what a Command asks for beyond it is shortened, and the answer carries the granted end. */
  coordinatorMaximum: number;
  ownershipMaximum: number;
  executionMaximum: number;
  blockedMaximum: number;
  offerMaximum: number;
  provisionalMaximum: number;
}

export interface CooperationLimits {
  /** Accepted in the last 60 seconds, per actor and Group. */
  messagesPerMinute: number;
  proposalsPerMinute: number;
  delegationDepth: number;
  queuedWorkItems: number;
  activeWorkItems: number;
}

export interface ServiceRights {
  /** The service's principal id. */
  serviceId: string;
  /** Command kinds it may send. */
  kinds: string[];
  /** May it submit Commands that other principals signed? */
  relay: boolean;
}

/** A bucket of `burst` tokens that fills by `perSecond`; a request takes one. */
export interface Rate {
  perSecond: number;
  burst: number;
}

/** Both must have a token: the Organization's for everybody together, the actor's for each one. */
export interface SharedRate {
  organization: Rate;
  actor: Rate;
}

/** How often the API may be asked. Beside the cooperation limits, which count what was accepted in a Group. */
export interface RequestRates {
  commands: SharedRate;
  reads: SharedRate;
  /** Logins whose signature was genuine, and refreshed tokens. */
  logins: SharedRate;
}

/** What catch-up serves without a snapshot: what every limit allows. */
export interface OnlineWindow {
  /** The last so many. */
  events: number;
  /** Accepted within so many days. */
  days?: number;
  /** The last ones whose bodies have so many bytes together. */
  bytes?: number;
}

export interface Policy {
  version: number;
  /** Seconds a new Command's `issuedAt` may lie behind or ahead of authority time. Behind is exclusive, as all ends are. */
  freshness: { behindSeconds: number; aheadSeconds: number };
  leases: LeaseBounds;
  limits: CooperationLimits;
  rates: RequestRates;
  /** Seconds that ownership lasts after an item returned to `queued`. */
  resumeWindowSeconds: number;
  /** Seconds after its end that an account keeps what it did not use; 0: late metering is not allowed. */
  meteringWindowSeconds: number;
  /** Candidates of one offer. */
  offerCandidatesMaximum: number;
  /** Human principal ids that may create root Missions; empty: every registered human may. */
  missionOwners: string[];
  services: ServiceRights[];
  /** May the authority itself satisfy `policy_required` execution approval? */
  autoApprovePolicyRequired: boolean;
  /** Humans and services that may read the protected audit record; nobody else may. */
  auditors: Principal[];
  /** How long a record of a refusal is kept at most. */
  auditRetentionDays: number;
  /** Of a Group; what lies before it moves to sealed segments. */
  onlineWindow: OnlineWindow;
  /** Events of a Group from one snapshot to the next. */
  snapshotEvery: number;
  /** Groups of which nothing may be erased, nor what is archived be destroyed, whatever its age; EVERY_GROUP stands for all. */
  legalHolds: string[];
}

/** In `legalHolds`. No Group has such an id. */
export const EVERY_GROUP = '*';

/** Some hours of a busy Group, and the whole life of most. */
const DEFAULT_ONLINE_WINDOW: OnlineWindow = { events: 50_000 };
/** A tenth of the window: who restores has at most so many left to fold. */
const DEFAULT_SNAPSHOT_EVERY = 5_000;

/** A year, and some weeks in which a yearly review may come late. */
const DEFAULT_AUDIT_RETENTION_DAYS = 400;

/**
 * Above what one process of two cores takes, so that by default an Organization is held back by its fair turn and not by
 * a number; an actor's is far above what an autonomous agent does in a second, and below what a loop gone wild does.
 */
const DEFAULT_RATES: RequestRates = {
  commands: { organization: { perSecond: 5_000, burst: 10_000 }, actor: { perSecond: 200, burst: 1_000 } },
  reads: { organization: { perSecond: 10_000, burst: 20_000 }, actor: { perSecond: 500, burst: 2_000 } },
  logins: { organization: { perSecond: 100, burst: 1_000 }, actor: { perSecond: 2, burst: 200 } },
};

export const DEFAULT_POLICY: Policy = {
  version: 1,
  freshness: { behindSeconds: 300, aheadSeconds: 60 },
  leases: {
    coordinatorMaximum: 86_400,
    ownershipMaximum: 86_400,
    executionMaximum: 3_600,
    blockedMaximum: 86_400,
    offerMaximum: 86_400,
    provisionalMaximum: 86_400,
  },
  limits: {
    messagesPerMinute: 120,
    proposalsPerMinute: 30,
    delegationDepth: 3,
    queuedWorkItems: 100,
    activeWorkItems: 4,
  },
  rates: DEFAULT_RATES,
  resumeWindowSeconds: 900,
  meteringWindowSeconds: 3_600,
  offerCandidatesMaximum: 20,
  missionOwners: [],
  services: [],
  autoApprovePolicyRequired: false,
  auditors: [],
  auditRetentionDays: DEFAULT_AUDIT_RETENTION_DAYS,
  onlineWindow: DEFAULT_ONLINE_WINDOW,
  snapshotEvery: DEFAULT_SNAPSHOT_EVERY,
  legalHolds: [],
};

/** A policy as it was stored, perhaps before there was such a member: what it lacks is at its default. */
export function completePolicy(stored: Omit<Policy, LaterMember> & Partial<Policy>): Policy {
  return {
    ...stored,
    rates: stored.rates ?? DEFAULT_RATES,
    auditors: stored.auditors ?? [],
    auditRetentionDays: stored.auditRetentionDays ?? DEFAULT_AUDIT_RETENTION_DAYS,
    onlineWindow: stored.onlineWindow ?? DEFAULT_ONLINE_WINDOW,
    snapshotEvery: stored.snapshotEvery ?? DEFAULT_SNAPSHOT_EVERY,
    legalHolds: stored.legalHolds ?? [],
  };
}

type LaterMember = 'rates' | 'auditors' | 'auditRetentionDays' | 'onlineWindow' | 'snapshotEvery' | 'legalHolds';

export function isAuditor({ auditors }: Policy, principal: Principal): boolean {
  return auditors.some((auditor) => samePrincipal(auditor, principal));
}

export function isHeld({ legalHolds }: Pick<Policy, 'legalHolds'>, groupId: string): boolean {
  return legalHolds.includes(EVERY_GROUP) || legalHolds.includes(groupId);
}
