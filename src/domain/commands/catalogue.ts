// Every Command kind that this authority executes. A new kind is a file and a line here.
import type { CommandKind } from '../decider.ts';
import { agentCardRegister } from './agent-card-register.ts';
import { approvalGrantExecution } from './approval-grant-execution.ts';
import { artifactPublish } from './artifact-publish.ts';
import { eventErase } from './event-erase.ts';
import { groupArchive } from './group-archive.ts';
import { membershipChange } from './membership-change.ts';
import { membershipEnd } from './membership-end.ts';
import { messageCorrect } from './message-correct.ts';
import { messagePost } from './message-post.ts';
import { messageRedact } from './message-redact.ts';
import { messageRetract } from './message-retract.ts';
import { missionApprove } from './mission-approve.ts';
import { missionCancel } from './mission-cancel.ts';
import { missionCreate } from './mission-create.ts';
import { missionRenewCoordinator } from './mission-renew-coordinator.ts';
import { missionRequestChanges } from './mission-request-changes.ts';
import { missionSubmitForApproval } from './mission-submit-for-approval.ts';
import { resourceUsageRecord } from './resource-usage-record.ts';
import { sessionOpen } from './session-open.ts';
import { workAcceptOffer } from './work-accept-offer.ts';
import { workAcceptResult } from './work-accept-result.ts';
import { workAuthorize } from './work-authorize.ts';
import { workBlock } from './work-block.ts';
import { workCancel } from './work-cancel.ts';
import { workCheckpoint } from './work-checkpoint.ts';
import { workExecutionLeaseRenew } from './work-execution-lease-renew.ts';
import { workFail } from './work-fail.ts';
import { workOffer } from './work-offer.ts';
import { workPropose } from './work-propose.ts';
import { workStart } from './work-start.ts';
import { workSubmit } from './work-submit.ts';
import { workUnblock } from './work-unblock.ts';

const KINDS: readonly CommandKind<unknown>[] = [
  missionCreate,
  workStart,
  agentCardRegister,
  sessionOpen,
  missionRenewCoordinator,
  missionSubmitForApproval,
  missionApprove,
  missionRequestChanges,
  missionCancel,
  membershipChange,
  membershipEnd,
  messagePost,
  messageCorrect,
  messageRetract,
  messageRedact,
  workPropose,
  workAuthorize,
  workOffer,
  workAcceptOffer,
  artifactPublish,
  workSubmit,
  workAcceptResult,
  workCheckpoint,
  workBlock,
  workUnblock,
  workExecutionLeaseRenew,
  resourceUsageRecord,
  approvalGrantExecution,
  workFail,
  workCancel,
  groupArchive,
  eventErase,
] as CommandKind<unknown>[];

const BY_NAME: ReadonlyMap<string, CommandKind<unknown>> = new Map(KINDS.map((kind) => [kind.kind, kind]));

export function commandKindOf(kind: string): CommandKind<unknown> | undefined {
  return BY_NAME.get(kind);
}

export function executedCommandKinds(): string[] {
  return [...BY_NAME.keys()];
}
