// The WorkItem record with its contract, offers, owner, progress and submission.

import { z } from 'zod';
import { actor, array, atLeastOne, capabilityRef, extensions, id, nonNegativeNumber } from './shapes.ts';
import { positiveInteger, safeInteger, sha256, text, timestamp, unique, uniqueAtLeastOne } from './shapes.ts';
import { workContractSchema } from './work-contract.ts';

export const workOffer = z.strictObject({
  offerId: id,
  agentId: id,
  agentCardVersion: positiveInteger,
  expiresAt: timestamp,
  status: z.enum(['pending', 'accepted', 'declined', 'withdrawn', 'expired', 'lost_race']),
  declineReason: z
    .enum(['capacity', 'deadline', 'capability', 'authorization', 'dependency', 'budget', 'other'])
    .optional(),
});

export const workOwner = z.strictObject({
  agentId: id,
  agentCardVersion: positiveInteger,
  capabilityPins: atLeastOne(capabilityRef),
  ownershipEpoch: positiveInteger,
  ownershipLeaseId: id,
  acceptedAt: timestamp,
});

export const selectionBasis = z.strictObject({
  requiredCapabilities: atLeastOne(capabilityRef),
  verifiedMatches: atLeastOne(capabilityRef),
  authorizationEligible: z.boolean(),
  availabilityEstimate: timestamp,
  expectedCost: nonNegativeNumber,
  reliabilityEvidence: array(id),
  policyRulesApplied: atLeastOne(text(1, 200)),
});

export const scheduleEstimate = z.strictObject({
  estimatedStart: timestamp,
  estimatedCompletion: timestamp,
  confidence: nonNegativeNumber.refine((value) => value <= 1, 'must be at most 1'),
  capacityStatus: z.enum(['available', 'queued', 'constrained', 'blocked']),
  lastCalculatedAt: timestamp,
});

export const workProgress = z.strictObject({
  currentPhase: text(1, 500),
  completedMilestones: array(text(1, 500)),
  nextCheckpoint: text(1, 500),
  blockers: array(text(1, 2000)),
  updatedCompletionEstimate: timestamp,
  evidenceIds: unique(id),
});

export const workSubmission = z.strictObject({
  artifactHashes: uniqueAtLeastOne(sha256),
  evidenceIds: uniqueAtLeastOne(id),
  submittedAt: timestamp,
});

const members = z.strictObject({
  workItemId: id,
  missionId: id,
  groupId: id,
  conversationId: id,
  revision: safeInteger,
  state: z.enum(['open', 'offered', 'queued', 'active', 'blocked', 'submitted', 'verified', 'failed', 'cancelled']),
  exclusive: z.boolean(),
  contract: workContractSchema,
  offers: array(workOffer).optional(),
  owner: workOwner.optional(),
  selectionBasis: selectionBasis.optional(),
  scheduleEstimate: scheduleEstimate.optional(),
  progress: workProgress.optional(),
  submission: workSubmission.optional(),
  createdBy: actor,
  authorizedBy: actor.optional(),
  createdAt: timestamp,
  updatedAt: timestamp.optional(),
  extensions: extensions.optional(),
});
export type WorkItem = z.infer<typeof members>;

const OWNED_STATES: readonly WorkItem['state'][] = ['queued', 'active', 'blocked', 'submitted', 'verified'];
const SUBMITTED_STATES: readonly WorkItem['state'][] = ['submitted', 'verified'];

export const workItemSchema = members.superRefine((item, context) => {
  const required: ('owner' | 'selectionBasis' | 'submission')[] = [];
  if (OWNED_STATES.includes(item.state)) required.push('owner', 'selectionBasis');
  if (SUBMITTED_STATES.includes(item.state)) required.push('submission');
  for (const member of required) {
    if (item[member] === undefined) context.addIssue({ code: 'custom', path: [member], message: 'is required' });
  }
});
