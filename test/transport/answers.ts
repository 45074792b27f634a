// What the API answers, as tests look at it: the members of all answers in one type, none of them promised.
import type { Receipt } from '../../src/authority/ports.ts';
import type { Amounts, BudgetAccountAggregate } from '../../src/domain/aggregates.ts';
import type { AgentCard } from '../../src/protocol/documents/agent-card.ts';
import type { Approval } from '../../src/protocol/documents/approval.ts';
import type { Artifact } from '../../src/protocol/documents/artifact.ts';
import type { Conversation } from '../../src/protocol/documents/conversation.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import type { Evidence } from '../../src/protocol/documents/evidence.ts';
import type { Group } from '../../src/protocol/documents/group.ts';
import type { Lease } from '../../src/protocol/documents/lease.ts';
import type { Membership } from '../../src/protocol/documents/membership.ts';
import type { Message } from '../../src/protocol/documents/message.ts';
import type { Mission } from '../../src/protocol/documents/mission.ts';
import type { WorkItem } from '../../src/protocol/documents/work-item.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import type { StateDocument } from '../../src/wire/state-document.ts';

/** The members of all answers in one; a test looks at those that its answer has. */
export interface Body {
  token: string;
  expiresAt: string;
  sessionEpoch?: number;
  challenge: string;
  challengeId: string;
  serverNonce: string;
  receipt: Receipt;
  events: Event[];
  duplicate: boolean;
  items: Shown[];
  next?: string;
  memberships: Shown[];
  group: Group;
  headSequence: number;
  throughSequence: number;
  document: StateDocument;
  stateHash: string;
  registryRevision: number;
  organizationId: string;
  keys: { keyId: string; publicKey: string; validFrom: string }[];
  agentCard: AgentCard;
  mission: Mission;
  workItem: WorkItem;
  details: Record<string, unknown>;
  [member: string]: unknown;
}

/** The same for the items of all lists. */
export interface Shown {
  mission: Mission;
  workItem: WorkItem;
  conversation: Conversation;
  message: Message;
  lease: Lease;
  account: BudgetAccountAggregate & { treeUsage: Amounts; remaining: Record<string, number | null> };
  artifact: Artifact;
  evidence: Evidence;
  approval: Approval;
  proposal: { proposalId: string; contract: unknown };
  member: Principal;
  roles: string[];
  documents: Membership[];
  groupId: string;
  slug: string;
  sequence: number;
  details: Record<string, unknown>;
  [member: string]: unknown;
}
