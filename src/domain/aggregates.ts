// The state of an Organization, as documents: what `evolve` writes, `decide` reads, and the state hash covers.
// A Group's state is the set of its aggregates; every document is canonical JSON data, nothing else.
import type { Principal } from '../protocol/principals.ts';
import type { ErasureReason } from '../protocol/retention.ts';

/**
 * Free text never stands in an aggregate, only a salted commitment to it (design section 8), so that erasing the text
 * changes neither a hash nor a fold. `T` below is `string` in what `decide` writes and `Committed` in what is folded.
 */
export interface Committed {
  commitment: string;
}

export type EvidenceKind =
  | 'artifact_integrity'
  | 'schema_validation'
  | 'deterministic_test'
  | 'business_rule'
  | 'reviewer_assessment'
  | 'human_review'
  | 'policy_check'
  | 'failure_report';

export interface Criterion<T> {
  criterionId: string;
  description: T;
  evidenceRequired: Exclude<EvidenceKind, 'failure_report'>[];
}

export interface CapabilityRef {
  id: string;
  version: string;
}

/** Limits as the protocol writes them; `financialLimit` is in units of `currency`, with at most six decimals (T-13). */
export interface Budget {
  currency?: string;
  financialLimit?: number;
  modelTokenLimit?: number;
  toolCallLimit?: number;
  computeSecondsLimit?: number;
  wallClockSecondsLimit?: number;
  externalSideEffectLimit?: number;
}

export type Extensions = Record<string, { version: string; critical: boolean; data?: unknown }>;

export type MissionState = 'active' | 'awaiting_approval' | 'approved' | 'failed' | 'cancelled';

/** The normative Mission document. */
export interface MissionDocument<T> {
  missionId: string;
  groupId: string;
  revision: number;
  objective: T;
  definitionOfDone: Criterion<T>[];
  missionOwner: Principal;
  coordinator: { agentId: string; agentCardVersion: number; coordinatorEpoch: number; leaseId: string };
  state: MissionState;
  budget: Budget;
  deadline: string;
  approvalPolicy: { finalHumanApproval: boolean; highRiskExecutionApproval: boolean; policyVersion?: string };
  parent?: { missionId: string; workItemId: string; depth: number };
  followUpToMissionId?: string;
  pinnedProfiles?: { profileUri: string; majorVersion: number }[];
  createdAt: string;
  extensions?: Extensions;
}

/** What the authority keeps of a Mission beside the normative document. */
export interface MissionDetails<T> {
  title?: T;
  permissions: string[];
  submission?: { missionRevision: number; artifactHashes: string[]; submittedAt: string };
  /** Every submission ever made, oldest first: a change request keeps them (MWP-MSN-008c). */
  submissions: { missionRevision: number; artifactHashes: string[]; submittedAt: string }[];
  approvedArtifactHashes?: string[];
  approvalId?: string;
  endedAt?: string;
  endReason?: T;
  /** WorkItems ever authorized; absent before the first. Counted here, so that a bound on them needs no list. */
  workItemCount?: number;
}

export interface MissionAggregate<T = Committed> {
  mission: MissionDocument<T>;
  details: MissionDetails<T>;
}

/** The normative Group document. */
export interface GroupAggregate {
  groupId: string;
  missionId: string;
  state: 'active' | 'archived';
  mainConversationId: string;
  createdAt: string;
  archivedAt?: string;
  archiveSnapshotId?: string;
}

/** The normative Conversation document. */
export interface ConversationAggregate<T = Committed> {
  conversationId: string;
  missionId: string;
  groupId: string;
  type: 'group' | 'work_item' | 'review' | 'restricted';
  primaryWorkItemId?: string;
  title: T;
  access: { mode: 'group' | 'restricted'; members?: Principal[] };
  createdBy: Principal;
  createdAt: string;
  state: 'active' | 'closed';
  revision: number;
}

export type MembershipRole = 'mission_owner' | 'coordinator' | 'worker' | 'reviewer' | 'observer' | 'work_delegate';
export type MembershipState = 'provisional' | 'active' | 'ended';

/** The normative Membership document: one role each. */
export interface MembershipDocument {
  membershipId: string;
  missionId: string;
  groupId: string;
  member: Principal;
  role: MembershipRole;
  state: MembershipState;
  membershipEpoch: number;
  scopes: string[];
  /** The first sequence that this member may see. */
  visibilityStartSequence: number;
  contextPackageId?: string;
  provisionalExpiresAt?: string;
  grantedAt: string;
  activatedAt?: string;
  endedAt?: string;
}

/** One per (Group, principal): its roles share state, epoch and visibility. */
export interface MembershipAggregate {
  member: Principal;
  groupId: string;
  state: MembershipState;
  membershipEpoch: number;
  visibilityStartSequence: number;
  provisionalExpiresAt?: string;
  /** At least one, sorted by role. */
  documents: MembershipDocument[];
}

export type WorkItemState =
  'open' | 'offered' | 'queued' | 'active' | 'blocked' | 'submitted' | 'verified' | 'failed' | 'cancelled';

/** The normative Work Contract document. */
export interface WorkContract<T> {
  contractVersion: number;
  goal: T;
  requiredDeliverables: { deliverableId: string; description: T; mediaType: string; schema: string }[];
  acceptanceCriteria: Criterion<T>[];
  inputArtifacts: string[];
  dependencyWorkItemIds: string[];
  allowedResources: { resource: string; operations: string[]; constraints?: Record<string, unknown> }[];
  requiredCapabilities: CapabilityRef[];
  deadline: string;
  requestedUrgency: 'routine' | 'normal' | 'high' | 'critical';
  businessImpact: T;
  retryPolicy: {
    maxAttempts: number;
    backoff: 'none' | 'fixed' | 'exponential';
    maxDelay: string;
    retryableFailures: string[];
  };
  budget: Budget;
  sideEffectRisk: 'none' | 'reversible' | 'external' | 'high_risk' | 'destructive';
  executionApproval: 'not_required' | 'policy_required' | 'human_required';
  constraints?: Record<string, unknown>;
  extensions?: Extensions;
}

export interface Offer {
  offerId: string;
  agentId: string;
  agentCardVersion: number;
  expiresAt: string;
  status: 'pending' | 'accepted' | 'declined' | 'withdrawn' | 'expired' | 'lost_race';
}

export interface WorkOwner {
  agentId: string;
  agentCardVersion: number;
  capabilityPins: CapabilityRef[];
  ownershipEpoch: number;
  ownershipLeaseId: string;
  acceptedAt: string;
}

export interface SelectionBasis {
  requiredCapabilities: CapabilityRef[];
  verifiedMatches: CapabilityRef[];
  authorizationEligible: boolean;
  availabilityEstimate: string;
  expectedCost: number;
  reliabilityEvidence: string[];
  policyRulesApplied: string[];
}

export interface WorkProgress<T> {
  currentPhase: T;
  completedMilestones: T[];
  nextCheckpoint: T;
  blockers: T[];
  updatedCompletionEstimate: string;
  evidenceIds: string[];
}

export interface ScheduleEstimate {
  estimatedStart: string;
  estimatedCompletion: string;
  confidence: number;
  capacityStatus: 'available' | 'queued' | 'constrained' | 'blocked';
  lastCalculatedAt: string;
}

/** The normative WorkItem document. */
export interface WorkItemDocument<T> {
  workItemId: string;
  missionId: string;
  groupId: string;
  conversationId: string;
  revision: number;
  state: WorkItemState;
  exclusive: boolean;
  contract: WorkContract<T>;
  offers?: Offer[];
  owner?: WorkOwner;
  selectionBasis?: SelectionBasis;
  scheduleEstimate?: ScheduleEstimate;
  progress?: WorkProgress<T>;
  submission?: { artifactHashes: string[]; evidenceIds: string[]; submittedAt: string };
  createdBy: Principal;
  authorizedBy?: Principal;
  createdAt: string;
  updatedAt?: string;
}

/** What the authority keeps of a WorkItem beside the normative document. */
export interface WorkItemDetails<T> {
  /** Never decreases, also while nobody owns the item (MWP-FND-017a). */
  ownershipEpoch: number;
  parentWorkItemId?: string;
  delegationDepth: number;
  replacesWorkItemId?: string;
  proposalId?: string;
  childMissionId?: string;
  /** The current, unclosed Execution Lease; only while `active`. */
  executionLeaseId?: string;
  /** The current blocked lease; only while `blocked` with an owner. */
  blockedLeaseId?: string;
  latestCheckpointId?: string;
  blocker?: T;
  endReason?: T;
  artifactIds: string[];
  executionApprovalIds: string[];
}

export interface WorkItemAggregate<T = Committed> {
  workItem: WorkItemDocument<T>;
  details: WorkItemDetails<T>;
}

export interface WorkProposalAggregate<T = Committed> {
  proposalId: string;
  missionId: string;
  groupId: string;
  proposedBy: Principal;
  contract: WorkContract<T>;
  parentWorkItemId?: string;
  state: 'open' | 'authorized';
  workItemId?: string;
  createdAt: string;
}

/** The normative Lease document. */
export interface LeaseAggregate {
  leaseId: string;
  leaseType: 'coordinator' | 'ownership' | 'execution' | 'blocked';
  missionId: string;
  groupId: string;
  workItemId?: string;
  holderAgentId: string;
  sessionEpoch: number;
  coordinatorEpoch?: number;
  ownershipEpoch?: number;
  startBy?: string;
  issuedAt: string;
  startsAt: string;
  expiresAt: string;
  state: 'active' | 'expired' | 'revoked' | 'released';
  renewalCount: number;
  lastRenewedAt?: string;
  closedAt?: string;
  closureReason?: string;
}

/** A signed Artifact manifest as stored: what decisions need; the signed bytes stand in the Event. */
export interface ArtifactAggregate {
  artifactId: string;
  contentHash: string;
  uri: string;
  sizeBytes: number;
  mediaType: string;
  producer: { agentId: string; agentCardVersion: number; capabilities: CapabilityRef[] };
  missionId: string;
  groupId: string;
  workItemId: string;
  sourceArtifactHashes: string[];
  classification: 'public' | 'internal' | 'confidential' | 'restricted';
  createdAt: string;
  signingHash: string;
}

export interface EvidenceAggregate {
  evidenceId: string;
  missionId: string;
  groupId: string;
  workItemId: string;
  type: EvidenceKind;
  subject: { type: 'work_item' | 'artifact' | 'mission'; id: string };
  criterionIds: string[];
  result: 'passed' | 'failed' | 'inconclusive';
  artifactHashes: string[];
  generatedBy: Principal;
  createdAt: string;
  signingHash: string;
}

export interface ApprovalAggregate<T = Committed> {
  approvalId: string;
  kind: 'mission_final' | 'child_mission' | 'work_execution';
  decision: 'approved' | 'changes_requested' | 'denied' | 'revoked';
  missionId: string;
  groupId: string;
  workItemId?: string;
  missionRevision: number;
  artifactHashes: string[];
  acceptancePolicyVersion: string;
  approver: Principal;
  comments: T;
  occurredAt: string;
  signingHash: string;
  /** Only of kind `work_execution`: it dies with the Ownership Epoch. Times as timestamps, budget in amounts. */
  scope?: {
    ownershipEpoch: number;
    operations: string[];
    resources: string[];
    budget: Partial<Amounts>;
    expiresAt: string;
  };
}

/** The six dimensions (design section 4): money in millionths of the tree's currency, the rest in whole units. */
export interface Amounts {
  financialMicrounits: number;
  modelTokens: number;
  toolCalls: number;
  computeSeconds: number;
  wallClockSeconds: number;
  externalActions: number;
}

/** Invariant of each account: `usage + allocated <= limit` in every dimension; an absent limit is zero. */
export interface BudgetAccountAggregate {
  accountId: string;
  groupId: string;
  owner: { type: 'mission' | 'work_item'; id: string };
  parentAccountId?: string;
  currency?: string;
  limit: Partial<Amounts>;
  /** Sum of the limits of its direct children. */
  allocated: Amounts;
  /** Direct usage only; what descendants used is derived over the tree. */
  usage: Amounts;
  state: 'open' | 'closed' | 'released';
  /** When its owner ended; it keeps its limit until the metering window after that has passed. */
  closedAt?: string;
}

export interface MessageAggregate<T = Committed> {
  messageId: string;
  missionId: string;
  groupId: string;
  conversationId: string;
  author: Principal;
  kind: 'message' | 'correction' | 'retraction' | 'redaction';
  authority: false;
  content: MessagePart<T>[];
  mentions?: Principal[];
  references?: string[];
  targetMessageId?: string;
  reason?: T;
  committedAt: string;
  /** The amendment that withholds it. No member of the Message itself, which stays as it was accepted. */
  redaction?: { amendmentId: string; redactedBy: Principal; redactedAt: string };
  /** That its texts, and those of all that speaks of it, are destroyed. No member of the Message either. */
  erasure?: { reasonCode: ErasureReason; erasedBy: Principal; erasedAt: string };
}

export type MessagePart<T> =
  | { type: 'text'; text: T }
  | { type: 'artifact_ref'; artifactHash: string }
  | { type: 'data_ref'; schema: string; data: T extends string ? unknown : Committed };

export interface CheckpointAggregate<T = Committed> {
  checkpointId: string;
  groupId: string;
  workItemId: string;
  ownershipEpoch: number;
  executionLeaseId: string;
  phase: T;
  completedMilestones: T[];
  nextStep?: T;
  stateArtifactHash?: string;
  createdAt: string;
}

/** The current Agent Card, as far as decisions need it. Of the Organization, not of a Group. */
export interface AgentCardAggregate {
  agentId: string;
  cardVersion: number;
  status: 'active' | 'deprecated' | 'revoked';
  capabilities: CapabilityRef[];
  maxConcurrency: number;
  issuedAt: string;
  validUntil?: string;
  /** Sessions up to this epoch ended when a Card was revoked; a later Card does not revive them. */
  endedSessionEpoch?: number;
  signingHash: string;
}

/** The one current runtime of an Agent (MWP-FND-016). Of the Organization, not of a Group. */
export interface SessionAggregate {
  agentId: string;
  sessionEpoch: number;
  openedAt: string;
}

export interface Aggregates {
  agent_card: AgentCardAggregate;
  session: SessionAggregate;
  mission: MissionAggregate;
  group: GroupAggregate;
  conversation: ConversationAggregate;
  membership: MembershipAggregate;
  work_proposal: WorkProposalAggregate;
  work_item: WorkItemAggregate;
  lease: LeaseAggregate;
  artifact: ArtifactAggregate;
  evidence: EvidenceAggregate;
  approval: ApprovalAggregate;
  budget_account: BudgetAccountAggregate;
  message: MessageAggregate;
  checkpoint: CheckpointAggregate;
}

export type AggregateKind = keyof Aggregates;

/** The id under which a Membership is kept: one per (Group, principal). A URI holds no blank. */
export function membershipKey(groupId: string, member: Principal): string {
  return `${groupId} ${member.type} ${member.id}`;
}

export function missionAccountId(missionId: string): string {
  return `mission ${missionId}`;
}

export function workItemAccountId(workItemId: string): string {
  return `work_item ${workItemId}`;
}
