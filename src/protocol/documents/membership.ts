// Group Membership: one role of one member, its epoch, and the Delegation Grants that hang on it.

import { z } from 'zod';
import { actor, agentActor, capabilityRef, completeBudget, extensions, id, operation } from './shapes.ts';
import { positiveInteger, safeInteger, timestamp, unique, uniqueAtLeastOne } from './shapes.ts';

export const delegationGrant = z.strictObject({
  grantId: id,
  granteeAgentId: id,
  missionId: id,
  groupId: id,
  targetWorkItemId: id,
  allowedCapabilities: uniqueAtLeastOne(capabilityRef),
  budget: completeBudget,
  maxDescendantDepth: safeInteger,
  granteeMembershipEpoch: positiveInteger,
  coordinatorEpoch: positiveInteger,
  grantedBy: agentActor,
  grantedAt: timestamp,
  expiresAt: timestamp,
});
export type DelegationGrant = z.infer<typeof delegationGrant>;

const members = z.strictObject({
  membershipId: id,
  missionId: id,
  groupId: id,
  member: actor,
  role: z.enum(['mission_owner', 'coordinator', 'worker', 'reviewer', 'observer', 'work_delegate']),
  state: z.enum(['provisional', 'active', 'ended']),
  membershipEpoch: positiveInteger,
  scopes: uniqueAtLeastOne(operation(160)),
  delegationGrants: unique(delegationGrant).optional(),
  visibilityStartSequence: safeInteger,
  contextPackageId: id.optional(),
  provisionalExpiresAt: timestamp.optional(),
  grantedAt: timestamp,
  activatedAt: timestamp.optional(),
  endedAt: timestamp.optional(),
  extensions: extensions.optional(),
});
export type Membership = z.infer<typeof members>;

const REQUIRED_BY_STATE = {
  provisional: ['provisionalExpiresAt', 'contextPackageId'],
  active: ['activatedAt'],
  ended: ['endedAt'],
} as const;

export const membershipSchema = members.superRefine((membership, context) => {
  for (const member of REQUIRED_BY_STATE[membership.state]) {
    if (membership[member] === undefined) context.addIssue({ code: 'custom', path: [member], message: 'is required' });
  }
});
