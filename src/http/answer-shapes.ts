// Shapes that the answers of several routes share. Nothing is parsed with them when the service answers: they describe
// the API, and the tests hold every answer against them.
import { z } from 'zod';
import { actor, id, safeInteger, sha256, timestamp } from '../protocol/documents/shapes.ts';
import { eventSchema } from '../protocol/documents/event.ts';
import { component } from './openapi/components.ts';

/** A list; a text of printable characters asks for what comes after. */
export function pageOf(item: z.ZodType) {
  return z.strictObject({
    items: z.array(item),
    next: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'What to send as `after` for the rest. Absent: this is the end.' }),
  });
}

const receiptEvent = z.strictObject({
  eventId: id,
  kind: z.string(),
  groupId: id.optional(),
  sequence: safeInteger.optional(),
  aggregateRevision: safeInteger.optional(),
  signingHash: sha256,
});

export const receiptShape = component(
  'Receipt',
  z
    .strictObject({
      organizationId: id,
      actor,
      actionId: id,
      kind: z.string(),
      commandHash: sha256.meta({ description: 'Signing hash of the Command.' }),
      keyId: id,
      admissionRecordId: id,
      acceptedAt: timestamp,
      acceptedBy: actor,
      primaryEventId: id,
      events: z.array(receiptEvent).min(1),
      groups: z.array(z.strictObject({ groupId: id, groupRevision: safeInteger, headSequence: safeInteger })),
      expectedRevision: safeInteger.optional(),
      aggregateRevision: safeInteger.optional(),
    })
    .meta({ description: 'What became of one accepted Command. The same bytes for ever; it holds no content.' }),
);

/** Rendered for the caller: of the Events of the transition, those that it may see. */
export const visibleEvents = z.array(eventSchema);
