// The Presence Record: a short-lived hint of an Agent's capacity. It carries no credential and authorises nothing.

import { z } from 'zod';
import { array, capabilityRef, id, positiveInteger, safeInteger, timestamp } from './shapes.ts';

export const presenceRecordSchema = z.strictObject({
  agentId: id,
  sessionEpoch: positiveInteger,
  status: z.enum(['online', 'busy', 'away', 'draining', 'offline']),
  capacity: z.strictObject({
    maxSlots: positiveInteger,
    activeSlots: safeInteger,
    availableSlots: safeInteger,
    queuedItems: safeInteger,
  }),
  capabilityAvailability: array(
    z.strictObject({ capability: capabilityRef, status: z.enum(['available', 'degraded', 'unavailable']) }),
  ),
  estimatedResponseMs: safeInteger.optional(),
  lastHeartbeat: timestamp,
  expiresAt: timestamp,
});
export type PresenceRecord = z.infer<typeof presenceRecordSchema>;
