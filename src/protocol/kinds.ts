// The closed lists of Command, Event and Signed Document kinds of MissionWeaveProtocol 0.1. What a kind means is the
// domain's business.

export const CORE_COMMAND_KINDS = [
  'mission.create',
  'mission.assign_coordinator',
  'mission.renew_coordinator',
  'mission.submit_for_approval',
  'mission.approve',
  'mission.request_changes',
  'mission.cancel',
  'mission.terminate',
  'mission.create_child',
  'mission.create_follow_up',
  'membership.change',
  'membership.end',
  'membership.grant_delegation',
  'message.post',
  'message.correct',
  'message.retract',
  'message.redact',
  'work.propose',
  'work.authorize',
  'work.offer',
  'work.accept_offer',
  'work.start',
  'work.checkpoint',
  'work.block',
  'work.unblock',
  'work.submit',
  'work.accept_result',
  'work.fail',
  'work.cancel',
  'artifact.publish',
  'approval.grant_execution',
  'policy.grant_cooperation_override',
] as const;
export type CoreCommandKind = (typeof CORE_COMMAND_KINDS)[number];

/** Kinds of the Organization log: a service sends them, without a Group and without any epoch. */
export const ORGANIZATION_COMMAND_KINDS = [
  'ext.missionweaveprotocol.registry.agent_card_register',
  'ext.missionweaveprotocol.identity.session_open',
] as const;
export type OrganizationCommandKind = (typeof ORGANIZATION_COMMAND_KINDS)[number];

/** Agent only, under a Coordinator Epoch. */
export const COORDINATOR_ONLY_KINDS = [
  'mission.renew_coordinator',
  'mission.submit_for_approval',
  'mission.create_child',
  'membership.grant_delegation',
  'work.accept_result',
] as const satisfies readonly CoreCommandKind[];
export type CoordinatorOnlyKind = (typeof COORDINATOR_ONLY_KINDS)[number];

export const EXTENSION_COMMAND_KINDS = [
  ...ORGANIZATION_COMMAND_KINDS,
  'ext.missionweaveprotocol.core.work_dependency_add',
  'ext.missionweaveprotocol.core.work_execution_lease_renew',
  'ext.missionweaveprotocol.core.resource_usage_record',
  'ext.missionweaveprotocol.core.group_archive',
] as const;
export type ExtensionCommandKind = (typeof EXTENSION_COMMAND_KINDS)[number];

export const CORE_EVENT_KINDS = [
  'mission.created',
  'mission.coordinator.assigned',
  'mission.coordinator.renewed',
  'mission.submitted_for_approval',
  'mission.approved',
  'mission.changes_requested',
  'mission.cancelled',
  'mission.terminated',
  'mission.child.created',
  'mission.follow_up.created',
  'membership.changed',
  'membership.ended',
  'membership.delegation.granted',
  'message.posted',
  'message.corrected',
  'message.retracted',
  'message.redacted',
  'work.proposed',
  'work.authorized',
  'work.offer.created',
  'work.offer.accepted',
  'work.contract.revised',
  'work.started',
  'work.progressed',
  'work.checkpointed',
  'work.blocked',
  'work.unblocked',
  'work.submitted',
  'work.result.accepted',
  'work.failed',
  'work.cancelled',
  'artifact.published',
  'approval.execution.granted',
  'policy.cooperation_override.granted',
  'group.snapshot.created',
  'group.archived',
] as const;
export type CoreEventKind = (typeof CORE_EVENT_KINDS)[number];

/** Events of the Organization log: no Group, no sequence, no aggregate revision. */
export const ORGANIZATION_EVENT_KINDS = [
  'ext.missionweaveprotocol.registry.agent_card_registered',
  'ext.missionweaveprotocol.identity.session_opened',
] as const;
export type OrganizationEventKind = (typeof ORGANIZATION_EVENT_KINDS)[number];

export const EXTENSION_EVENT_KINDS = [
  ...ORGANIZATION_EVENT_KINDS,
  'ext.missionweaveprotocol.core.resource_usage_recorded',
  'ext.missionweaveprotocol.core.work_execution_lease_revoked',
] as const;
export type ExtensionEventKind = (typeof EXTENSION_EVENT_KINDS)[number];

/** `documentKind` of a First-Admission Record, and the nine document names that carry a signature (MWP-SDV-001a). */
export const SIGNED_DOCUMENT_KINDS = [
  'agent-card',
  'approval',
  'artifact',
  'command',
  'context-package',
  'event',
  'evidence',
  'extension-profile',
  'group-snapshot',
] as const;
export type SignedDocumentKind = (typeof SIGNED_DOCUMENT_KINDS)[number];

export type CommandKind = CoreCommandKind | `ext.${string}`;
export type EventKind = CoreEventKind | `ext.${string}`;

const EXTENSION_KIND = /^ext\.[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*){2,}$/;
const EXTENSION_KIND_MAX = 160;
/** The same as JSON Schema says it. */
export const EXTENSION_KIND_FORM = { pattern: EXTENSION_KIND.source, maxLength: EXTENSION_KIND_MAX } as const;
const coreCommandKinds: ReadonlySet<string> = new Set(CORE_COMMAND_KINDS);
const organizationCommandKinds: ReadonlySet<string> = new Set(ORGANIZATION_COMMAND_KINDS);
const coordinatorOnlyKinds: ReadonlySet<string> = new Set(COORDINATOR_ONLY_KINDS);
const coreEventKinds: ReadonlySet<string> = new Set(CORE_EVENT_KINDS);
const organizationEventKinds: ReadonlySet<string> = new Set(ORGANIZATION_EVENT_KINDS);
const signedDocumentKinds: ReadonlySet<string> = new Set(SIGNED_DOCUMENT_KINDS);

/** The shape of an extension kind of anybody: `ext.` and three or more labels. */
export function isExtensionKind(kind: string): kind is `ext.${string}` {
  return kind.length <= EXTENSION_KIND_MAX && EXTENSION_KIND.test(kind);
}

export function isCoreCommandKind(kind: string): kind is CoreCommandKind {
  return coreCommandKinds.has(kind);
}

export function isOrganizationCommandKind(kind: string): kind is OrganizationCommandKind {
  return organizationCommandKinds.has(kind);
}

export function isCoordinatorOnlyKind(kind: string): kind is CoordinatorOnlyKind {
  return coordinatorOnlyKinds.has(kind);
}

export function isCoreEventKind(kind: string): kind is CoreEventKind {
  return coreEventKinds.has(kind);
}

export function isOrganizationEventKind(kind: string): kind is OrganizationEventKind {
  return organizationEventKinds.has(kind);
}

export function isSignedDocumentKind(kind: string): kind is SignedDocumentKind {
  return signedDocumentKinds.has(kind);
}
