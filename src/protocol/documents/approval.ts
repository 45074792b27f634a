// The Approval decision, signed by its approver. Which Approval counts for what is the domain's business.

import { z } from 'zod';
import { actor, array, id, safeInteger, semver, sha256, signature, text, timestamp, unique } from './shapes.ts';

const members = z.strictObject({
  approvalId: id,
  kind: z.enum(['mission_final', 'child_mission', 'work_execution']),
  decision: z.enum(['approved', 'changes_requested', 'denied', 'revoked']),
  missionId: id,
  groupId: id,
  workItemId: id.optional(),
  missionRevision: safeInteger,
  artifactHashes: unique(sha256),
  acceptancePolicyVersion: semver,
  approver: actor,
  comments: text(0, 10_000),
  conditions: array(text(1, 2000)),
  revokesApprovalId: id.optional(),
  occurredAt: timestamp,
  signature,
});
export type Approval = z.infer<typeof members>;

export const approvalSchema = members
  .refine(
    (approval) =>
      approval.kind === 'work_execution' || approval.decision !== 'approved' || approval.artifactHashes.length > 0,
    { path: ['artifactHashes'], message: 'must name what was approved' },
  )
  .refine((approval) => approval.kind !== 'mission_final' || approval.approver.type === 'human', {
    path: ['approver'],
    message: 'must be a human',
  })
  .refine((approval) => approval.kind !== 'work_execution' || approval.workItemId !== undefined, {
    path: ['workItemId'],
    message: 'is required',
  })
  .refine((approval) => approval.decision !== 'revoked' || approval.revokesApprovalId !== undefined, {
    path: ['revokesApprovalId'],
    message: 'is required',
  });
