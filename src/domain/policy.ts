// The per-tenant policy: bounds and rights that the protocol leaves to the Organization. Plain data with defaults.

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

export interface Policy {
  version: number;
  /** Seconds a new Command's `issuedAt` may lie behind or ahead of authority time. Behind is exclusive, as all ends are. */
  freshness: { behindSeconds: number; aheadSeconds: number };
  leases: LeaseBounds;
  limits: CooperationLimits;
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
}

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
  resumeWindowSeconds: 900,
  meteringWindowSeconds: 3_600,
  offerCandidatesMaximum: 20,
  missionOwners: [],
  services: [],
  autoApprovePolicyRequired: false,
};
