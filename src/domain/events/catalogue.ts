// Every Event kind that this authority appends and folds. A new kind is a file and a line here.
import type { EventKind } from '../decider.ts';
import { agentCardRegistered } from './agent-card-registered.ts';
import { approvalExecutionGranted } from './approval-execution-granted.ts';
import { artifactPublished } from './artifact-published.ts';
import { eventErased } from './event-erased.ts';
import { groupArchived } from './group-archived.ts';
import { groupSnapshotCreated } from './group-snapshot-created.ts';
import { membershipChanged } from './membership-changed.ts';
import { membershipEnded } from './membership-ended.ts';
import { messageCorrected, messageRedacted, messageRetracted } from './message-amended.ts';
import { messagePosted } from './message-posted.ts';
import { missionApproved } from './mission-approved.ts';
import { missionCancelled } from './mission-cancelled.ts';
import { missionChangesRequested } from './mission-changes-requested.ts';
import { missionCoordinatorRenewed } from './mission-coordinator-renewed.ts';
import { missionCreated } from './mission-created.ts';
import { missionSubmittedForApproval } from './mission-submitted-for-approval.ts';
import { resourceUsageRecorded } from './resource-usage-recorded.ts';
import { sessionOpened } from './session-opened.ts';
import { workAuthorized } from './work-authorized.ts';
import { workBlocked } from './work-blocked.ts';
import { workCancelled } from './work-cancelled.ts';
import { workCheckpointed } from './work-checkpointed.ts';
import { workContractRevised } from './work-contract-revised.ts';
import { workExecutionLeaseRevoked } from './work-execution-lease-revoked.ts';
import { workFailed } from './work-failed.ts';
import { workOfferAccepted } from './work-offer-accepted.ts';
import { workOfferCreated } from './work-offer-created.ts';
import { workProgressed } from './work-progressed.ts';
import { workProposed } from './work-proposed.ts';
import { workResultAccepted } from './work-result-accepted.ts';
import { workStarted } from './work-started.ts';
import { workSubmitted } from './work-submitted.ts';
import { workUnblocked } from './work-unblocked.ts';

const KINDS: readonly EventKind<unknown>[] = [
  missionCreated,
  workStarted,
  agentCardRegistered,
  sessionOpened,
  missionCoordinatorRenewed,
  missionSubmittedForApproval,
  missionApproved,
  missionChangesRequested,
  missionCancelled,
  membershipChanged,
  membershipEnded,
  messagePosted,
  messageCorrected,
  messageRetracted,
  messageRedacted,
  workExecutionLeaseRevoked,
  workCancelled,
  workProposed,
  workAuthorized,
  workOfferCreated,
  workOfferAccepted,
  workContractRevised,
  artifactPublished,
  workSubmitted,
  workResultAccepted,
  workCheckpointed,
  workBlocked,
  workUnblocked,
  workProgressed,
  resourceUsageRecorded,
  approvalExecutionGranted,
  workFailed,
  groupSnapshotCreated,
  groupArchived,
  eventErased,
] as EventKind<unknown>[];

const BY_NAME: ReadonlyMap<string, EventKind<unknown>> = new Map(KINDS.map((kind) => [kind.kind, kind]));

/** Throws for a kind that nothing here appends: such an Event in a log is corruption, not input. */
export function eventKindOf(kind: string): EventKind<unknown> {
  const found = BY_NAME.get(kind);
  if (!found) throw new Error(`unknown Event kind: ${kind}`);
  return found;
}

export function foldedEventKinds(): string[] {
  return [...BY_NAME.keys()];
}
