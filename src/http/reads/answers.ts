// What the reads of an Organization answer. The protocol's documents stand in it as they are; what the authority keeps
// beside them has its shape here.
import { z } from 'zod';
import { agentCardSchema } from '../../protocol/documents/agent-card.ts';
import { approvalSchema } from '../../protocol/documents/approval.ts';
import { artifactSchema } from '../../protocol/documents/artifact.ts';
import { conversationSchema } from '../../protocol/documents/conversation.ts';
import { eventSchema } from '../../protocol/documents/event.ts';
import { evidenceSchema } from '../../protocol/documents/evidence.ts';
import { groupSchema } from '../../protocol/documents/group.ts';
import { leaseSchema } from '../../protocol/documents/lease.ts';
import { membershipSchema } from '../../protocol/documents/membership.ts';
import { messageSchema } from '../../protocol/documents/message.ts';
import { missionSchema } from '../../protocol/documents/mission.ts';
import { actor, id, jsonObject, positiveInteger, safeInteger, sha256 } from '../../protocol/documents/shapes.ts';
import { timestamp } from '../../protocol/documents/shapes.ts';
import { workContractSchema } from '../../protocol/documents/work-contract.ts';
import { workItemSchema } from '../../protocol/documents/work-item.ts';
import { ERASURE_REASONS } from '../../protocol/retention.ts';
import { pageOf, receiptShape, visibleEvents } from '../answer-shapes.ts';
import { component } from '../openapi/components.ts';
import { accountShape } from './account-shape.ts';
import { auditRecordShape } from './audit-shape.ts';

const text = z.string().min(1);
const page = (name: string, item: z.ZodType) => component(name, pageOf(item));
const signed = { details: z.strictObject({ signingHash: sha256 }) };

const submission = z.strictObject({
  missionRevision: safeInteger,
  artifactHashes: z.array(sha256),
  submittedAt: timestamp,
});
export const missionAnswer = component(
  'MissionAnswer',
  z.strictObject({
    mission: missionSchema,
    details: z.strictObject({
      title: text.optional(),
      permissions: z.array(z.string()),
      submission: submission.optional(),
      submissions: z.array(submission),
      workItemCount: z.int().min(0).optional().meta({ description: 'WorkItems that were authorized in it so far.' }),
      approvedArtifactHashes: z.array(sha256).optional(),
      approvalId: id.optional(),
      endedAt: timestamp.optional(),
      endReason: text.optional(),
    }),
  }),
);
export const missionPage = page('MissionPage', missionAnswer);

export const groupAnswer = component(
  'GroupAnswer',
  z.strictObject({ group: groupSchema, headSequence: safeInteger, groupRevision: safeInteger }),
);

export const workItemAnswer = component(
  'WorkItemAnswer',
  z.strictObject({
    workItem: workItemSchema,
    details: z.strictObject({
      ownershipEpoch: safeInteger,
      parentWorkItemId: id.optional(),
      delegationDepth: safeInteger,
      replacesWorkItemId: id.optional(),
      proposalId: id.optional(),
      childMissionId: id.optional(),
      executionLeaseId: id.optional(),
      blockedLeaseId: id.optional(),
      latestCheckpointId: id.optional(),
      blocker: text.optional(),
      endReason: text.optional(),
      artifactIds: z.array(id),
      executionApprovalIds: z.array(id),
      awaitingExecutionApproval: z
        .literal(true)
        .optional()
        .meta({ description: 'There while that is what a queued item waits for.' }),
    }),
  }),
);
export const workItemPage = page('WorkItemPage', workItemAnswer);

const membership = component(
  'MembershipItem',
  z
    .strictObject({
      groupId: id,
      missionId: id,
      member: actor,
      state: z.enum(['provisional', 'active', 'ended']),
      membershipEpoch: positiveInteger,
      roles: z
        .array(z.enum(['mission_owner', 'coordinator', 'worker', 'reviewer', 'observer', 'work_delegate']))
        .min(1),
      visibilityStartSequence: safeInteger,
      provisionalExpiresAt: timestamp.optional(),
      documents: z.array(membershipSchema).min(1),
    })
    .meta({
      description: 'One member: its roles share state, epoch and start. `documents` has one Membership a role.',
    }),
);
export const membershipPage = page('MembershipPage', membership);

export const meAnswer = component(
  'MeAnswer',
  pageOf(membership)
    .omit({ items: true })
    .extend({
      organizationId: id,
      principal: actor,
      sessionEpoch: safeInteger
        .optional()
        .meta({ description: 'Of Agents: the current Session Epoch, 0 before the first session.' }),
      memberships: z.array(membership),
    }),
);

export const conversationPage = page('ConversationPage', z.strictObject({ conversation: conversationSchema }));
export const messagePage = page(
  'MessagePage',
  z.strictObject({
    message: messageSchema,
    details: z
      .union([
        z.strictObject({
          redacted: z.literal(true),
          amendmentId: id,
          redactedBy: actor,
          redactedAt: timestamp,
          reason: z.string().optional(),
        }),
        z.strictObject({
          erased: z.literal(true),
          reasonCode: z.enum(ERASURE_REASONS),
          erasedBy: actor,
          erasedAt: timestamp,
        }),
      ])
      .optional()
      .meta({
        description:
          'Of a redacted Message, its corrections and retractions: commitments stand for texts, but to auditors. Of an erased one and all that amended it: to auditors, too.',
      }),
  }),
);
export const leasePage = page('LeasePage', z.strictObject({ lease: leaseSchema }));
export const accountPage = page('AccountPage', z.strictObject({ account: accountShape }));
export const artifactPage = page('ArtifactPage', z.strictObject({ artifact: artifactSchema, ...signed }));
export const evidencePage = page('EvidencePage', z.strictObject({ evidence: evidenceSchema, ...signed }));

const executionScope = z.strictObject({
  ownershipEpoch: positiveInteger,
  operations: z.array(z.string()),
  resources: z.array(z.string()),
  budget: accountShape.shape.limit,
  expiresAt: timestamp,
});
export const approvalPage = page(
  'ApprovalPage',
  z.strictObject({
    approval: approvalSchema,
    details: z.strictObject({ signingHash: sha256, scope: executionScope.optional() }),
  }),
);

const proposal = z.strictObject({
  proposalId: id,
  missionId: id,
  groupId: id,
  proposedBy: actor,
  contract: workContractSchema,
  parentWorkItemId: id.optional(),
  state: z.enum(['open', 'authorized']),
  workItemId: id.optional(),
  createdAt: timestamp,
});
export const proposalPage = page('ProposalPage', z.strictObject({ proposal }));

export const policyLogPage = page(
  'PolicyLogPage',
  z.strictObject({
    position: positiveInteger,
    entryId: id,
    decision: text,
    actor,
    occurredAt: timestamp,
    details: jsonObject,
    eventId: id,
  }),
);

export const auditPage = page('AuditPage', auditRecordShape);

export const stateAnswer = component(
  'StateAnswer',
  z.strictObject({
    document: z.strictObject({
      format: positiveInteger,
      organizationId: id,
      groupId: id,
      aggregates: z.array(z.strictObject({ kind: z.string(), id: z.string(), hash: sha256 })),
    }),
    stateHash: sha256.meta({ description: 'Hash of the canonical form of `document`.' }),
    throughSequence: safeInteger,
  }),
);

export const eventPage = component(
  'EventPage',
  pageOf(eventSchema).extend({
    throughSequence: safeInteger.meta({ description: 'The last sequence that this page covers: the next `after`.' }),
    headSequence: safeInteger,
  }),
);

export const receiptAnswer = component(
  'ReceiptAnswer',
  z.strictObject({ receipt: receiptShape, events: visibleEvents }),
);
export const agentAnswer = component('AgentAnswer', z.strictObject({ agentCard: agentCardSchema, ...signed }));
