// The Command envelope: who must and must not carry which epoch (commands.md 0.1). The payload is the domain's.

import { z } from 'zod';
import {
  CORE_COMMAND_KINDS,
  EXTENSION_KIND_FORM,
  isCoordinatorOnlyKind,
  isCoreCommandKind,
  isExtensionKind,
  isOrganizationCommandKind,
  type CommandKind,
} from '../kinds.ts';
import type { PrincipalType } from '../principals.ts';
import { actor, extensions, id, jsonObject, positiveInteger, protocolVersion } from './shapes.ts';
import { safeInteger, signature, timestamp } from './shapes.ts';

export const commandKind = z
  .custom<CommandKind>(
    (value) => typeof value === 'string' && (isCoreCommandKind(value) || isExtensionKind(value)),
    'must be a core Command kind or an extension kind',
  )
  .meta({ type: 'string', anyOf: [{ enum: CORE_COMMAND_KINDS }, EXTENSION_KIND_FORM] });

const members = z.strictObject({
  protocolVersion,
  actionId: id,
  actor,
  sessionEpoch: positiveInteger.optional(),
  membershipEpoch: positiveInteger.optional(),
  coordinatorEpoch: positiveInteger.optional(),
  groupId: id.optional(),
  conversationId: id.optional(),
  workItemId: id.optional(),
  cooperationOverrideGrantId: id.optional(),
  kind: commandKind,
  expectedRevision: safeInteger.optional(),
  correlationId: id,
  causedByEventId: id.optional(),
  issuedAt: timestamp,
  payload: jsonObject,
  extensions: extensions.optional(),
  signature,
});

export type Command = z.infer<typeof members>;
export type EnvelopeMember = 'groupId' | 'sessionEpoch' | 'membershipEpoch' | 'coordinatorEpoch';

const ENVELOPE_MEMBERS: readonly EnvelopeMember[] = ['groupId', 'sessionEpoch', 'membershipEpoch', 'coordinatorEpoch'];

export const commandSchema = members.superRefine((command, context) => {
  const fault = envelopeFault(command);
  if (fault !== undefined) context.addIssue({ code: 'custom', path: [fault.member], message: fault.message });
});

interface EnvelopeFault {
  member: string;
  message: string;
}

function envelopeFault(command: Command): EnvelopeFault | undefined {
  const { required, forbidden, actors } = envelopeRule(command.kind, command.actor.type);
  if (!actors.includes(command.actor.type)) {
    return { member: 'actor', message: `of type ${command.actor.type} may not send this kind` };
  }
  for (const member of ENVELOPE_MEMBERS) {
    if (required.has(member) && command[member] === undefined) return { member, message: 'is required' };
    if (forbidden.has(member) && command[member] !== undefined) return { member, message: 'is not allowed' };
  }
  return undefined;
}

/** Which actors may send a kind, and what one of this type must and must not carry with it. */
export function envelopeRule(kind: CommandKind, type: PrincipalType) {
  const creates = kind === 'mission.create' || kind === 'mission.create_follow_up';
  const required = new Set<EnvelopeMember>();
  const forbidden = new Set<EnvelopeMember>();
  let actors: readonly PrincipalType[] = ['agent', 'human', 'service'];

  if (isCoreCommandKind(kind)) required.add('groupId');
  if (type === 'agent') {
    required.add('groupId').add('sessionEpoch').add('membershipEpoch');
    if (kind === 'mission.terminate') required.add('coordinatorEpoch');
  } else {
    forbidden.add('sessionEpoch');
  }
  if (type === 'service') forbidden.add('membershipEpoch').add('coordinatorEpoch');
  if (type === 'human' && !creates) required.add('groupId').add('membershipEpoch');

  if (kind === 'mission.terminate') actors = ['agent', 'service'];
  if (creates) {
    actors = ['human'];
    forbidden.add('membershipEpoch').add('coordinatorEpoch');
  }
  if (isOrganizationCommandKind(kind)) {
    actors = ['service'];
    for (const member of ENVELOPE_MEMBERS) forbidden.add(member);
  }
  if (isCoordinatorOnlyKind(kind)) {
    actors = ['agent'];
    required.add('coordinatorEpoch');
  }
  return { required, forbidden, actors };
}
