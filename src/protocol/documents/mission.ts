// The Mission record. A root Mission has a human owner and needs the final human Approval; a child is owned by an Agent.

import { z } from 'zod';
import { acceptanceCriterion, actor, atLeastOne, budget, extensions, id, positiveInteger } from './shapes.ts';
import { safeInteger, semver, text, timestamp, unique } from './shapes.ts';

const members = z.strictObject({
  missionId: id,
  groupId: id,
  revision: safeInteger,
  objective: text(1, 10_000),
  definitionOfDone: atLeastOne(acceptanceCriterion),
  missionOwner: actor,
  coordinator: z.strictObject({
    agentId: id,
    agentCardVersion: positiveInteger,
    coordinatorEpoch: positiveInteger,
    leaseId: id,
  }),
  state: z.enum(['active', 'awaiting_approval', 'approved', 'failed', 'cancelled']),
  budget,
  deadline: timestamp,
  approvalPolicy: z.strictObject({
    finalHumanApproval: z.boolean(),
    highRiskExecutionApproval: z.boolean(),
    policyVersion: semver.optional(),
  }),
  parent: z.strictObject({ missionId: id, workItemId: id, depth: positiveInteger }).optional(),
  followUpToMissionId: id.optional(),
  pinnedProfiles: unique(z.strictObject({ profileUri: id, majorVersion: safeInteger })).optional(),
  createdAt: timestamp,
  extensions: extensions.optional(),
});
export type Mission = z.infer<typeof members>;

export const missionSchema = members
  .refine((mission) => mission.missionOwner.type === (mission.parent === undefined ? 'human' : 'agent'), {
    path: ['missionOwner'],
    message: 'must be a human for a root Mission and an Agent for a child',
  })
  .refine((mission) => mission.parent !== undefined || mission.approvalPolicy.finalHumanApproval, {
    path: ['approvalPolicy', 'finalHumanApproval'],
    message: 'must be true for a root Mission',
  });
