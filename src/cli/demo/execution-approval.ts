// The MissionOwner's Approval of one execution: signed over its scope, so that the conditions of the document and the
// members of the Command say the same.

import { canonicalHash } from '../../wire/canonical.ts';
import { addSeconds, timestampFromMillis } from '../../protocol/timestamps.ts';
import type { MissionItem } from '../../worker/answers.ts';
import { signApproval } from '../../worker/documents.ts';
import type { Actor } from './actor.ts';
import { StoryStopped } from './checks.ts';
import { CURRENCY, DEPLOY } from './contract.ts';
import { answerOf, type Play } from './play.ts';
import type { Task } from './task.ts';

const EXPIRES_IN_SECONDS = 300;

export async function signExecutionApproval(play: Play, task: Task, approver: Actor) {
  const mission = await approver.client.read<MissionItem>(`/missions/${encodeURIComponent(play.missionId)}`);
  if (!mission.ok) throw new StoryStopped(`${approver.name} reads the mission (${answerOf(mission)})`);
  const { workItemId, ownershipEpoch } = task;
  const budget = { currency: CURRENCY, financialLimit: 2, externalSideEffectLimit: 1 };
  const expiresAt = addSeconds(timestampFromMillis(Date.now()), EXPIRES_IN_SECONDS);
  const approval = signApproval(approver.key, {
    kind: 'work_execution',
    decision: 'approved',
    missionId: play.missionId,
    groupId: play.groupId,
    workItemId,
    missionRevision: mission.value.mission.revision,
    artifactHashes: [],
    conditions: [
      `operation:${DEPLOY.operation}`,
      `resource:${DEPLOY.resource}`,
      `ownershipEpoch:${ownershipEpoch}`,
      `expiresAt:${expiresAt}`,
      `budgetHash:${canonicalHash(budget)}`,
    ],
  });
  return {
    approval,
    workItemId,
    ownershipEpoch,
    operations: [DEPLOY.operation],
    resources: [DEPLOY.resource],
    budget,
    expiresInSeconds: EXPIRES_IN_SECONDS,
  };
}
