// The Event envelope. Events of a Group carry group, sequence and revision; those of the Organization log none of them.

import { z } from 'zod';
import { CORE_EVENT_KINDS, EXTENSION_KIND_FORM, isCoreEventKind, isExtensionKind } from '../kinds.ts';
import { isOrganizationEventKind, type EventKind } from '../kinds.ts';
import { actor, extensions, id, jsonObject, positiveInteger, protocolVersion } from './shapes.ts';
import { safeInteger, sha256, signature, timestamp } from './shapes.ts';

export const eventKind = z
  .custom<EventKind>(
    (value) => typeof value === 'string' && (isCoreEventKind(value) || isExtensionKind(value)),
    'must be a core Event kind or an extension kind',
  )
  .meta({ type: 'string', anyOf: [{ enum: CORE_EVENT_KINDS }, EXTENSION_KIND_FORM] });

const members = z.strictObject({
  protocolVersion,
  eventId: id,
  groupId: id.optional(),
  sequence: positiveInteger.optional(),
  aggregateRevision: safeInteger.optional(),
  kind: eventKind,
  actor,
  cause: z.strictObject({ type: z.enum(['command', 'event', 'timer', 'policy']), id }),
  correlationId: id,
  conversationId: id.optional(),
  workItemId: id.optional(),
  occurredAt: timestamp,
  payload: jsonObject,
  acceptedBy: actor,
  commandHash: sha256.optional(),
  extensions: extensions.optional(),
  signature,
});

export type Event = z.infer<typeof members>;

export const eventSchema = members.superRefine((event, context) => {
  const ofOrganization = isOrganizationEventKind(event.kind);
  if (ofOrganization && event.actor.type !== 'service') {
    context.addIssue({ code: 'custom', path: ['actor'], message: 'must be a service' });
  }
  for (const member of ['groupId', 'sequence', 'aggregateRevision'] as const) {
    if ((event[member] === undefined) === ofOrganization) continue;
    const message = ofOrganization ? 'is not allowed' : 'is required';
    context.addIssue({ code: 'custom', path: [member], message });
  }
});
