// The Approval of one execution. approval.schema.json has no members for its scope, so what the human signs are the
// conditions, and the Command states the same scope as members; the two must agree word for word.

import type { Budget } from '../protocol/documents/shapes.ts';
import { canonicalHash } from '../wire/canonical.ts';
import { signApproval, type ApprovalDraft } from './documents.ts';
import type { ActorKey } from './keys.ts';

export interface ExecutionScope {
  readonly workItemId: string;
  /** The Approval dies with it. */
  readonly ownershipEpoch: number;
  readonly operations: readonly string[];
  readonly resources?: readonly string[];
  /** What the execution may use; within the contract. */
  readonly budget?: Budget;
  /** RFC 3339; no later than the ownership lease ends. */
  readonly expiresAt: string;
}

export type ExecutionApprovalDraft = Pick<ApprovalDraft, 'missionId' | 'groupId' | 'missionRevision' | 'comments'>;

/** The payload of `approval.grant_execution`, signed Approval included. */
export function executionApproval(key: ActorKey, draft: ExecutionApprovalDraft, scope: ExecutionScope) {
  const { workItemId, ownershipEpoch, operations, resources = [], budget, expiresAt } = scope;
  const approval = signApproval(key, {
    ...draft,
    kind: 'work_execution',
    decision: 'approved',
    workItemId,
    artifactHashes: [],
    conditions: [
      ...operations.map((operation) => `operation:${operation}`),
      ...resources.map((resource) => `resource:${resource}`),
      `ownershipEpoch:${ownershipEpoch}`,
      `expiresAt:${expiresAt}`,
      `budgetHash:${canonicalHash(budget ?? {})}`,
    ],
  });
  return { ...scope, approval };
}
