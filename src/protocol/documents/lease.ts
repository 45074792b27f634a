// The fenced Lease record of all four types.

import { z } from 'zod';
import { codePointLength } from './json-value.ts';
import { id, positiveInteger, safeInteger, timestamp } from './shapes.ts';

const closureReason = z
  .custom<string>(
    (value) => typeof value === 'string' && /\S/.test(value) && codePointLength(value) <= 512,
    'must be a reason of at most 512 characters',
  )
  .meta({ type: 'string', pattern: '\\S', maxLength: 512 });

const members = z.strictObject({
  leaseId: id,
  leaseType: z.enum(['coordinator', 'ownership', 'execution', 'blocked']),
  missionId: id,
  groupId: id,
  workItemId: id.optional(),
  holderAgentId: id,
  sessionEpoch: positiveInteger,
  coordinatorEpoch: positiveInteger.optional(),
  ownershipEpoch: positiveInteger.optional(),
  startBy: timestamp.optional(),
  issuedAt: timestamp,
  startsAt: timestamp,
  expiresAt: timestamp,
  graceExpiresAt: timestamp.optional(),
  state: z.enum(['active', 'expired', 'revoked', 'released']),
  renewalCount: safeInteger,
  lastRenewedAt: timestamp.optional(),
  closedAt: timestamp.optional(),
  closureReason: closureReason.optional(),
});
export type Lease = z.infer<typeof members>;

export const leaseSchema = members.superRefine((lease, context) => {
  const { required, forbidden } = memberRule(lease);
  for (const member of required) {
    if (lease[member] === undefined) context.addIssue({ code: 'custom', path: [member], message: 'is required' });
  }
  for (const member of forbidden) {
    if (lease[member] !== undefined) context.addIssue({ code: 'custom', path: [member], message: 'is not allowed' });
  }
});

function memberRule(lease: Lease) {
  const required: (keyof Lease)[] = [];
  const forbidden: (keyof Lease)[] = [];
  if (lease.leaseType === 'coordinator') required.push('coordinatorEpoch');
  else required.push('workItemId', 'ownershipEpoch');
  if (lease.leaseType === 'ownership') required.push('startBy');
  if (lease.leaseType === 'execution') forbidden.push('coordinatorEpoch', 'startBy', 'graceExpiresAt');
  (lease.renewalCount > 0 ? required : forbidden).push('lastRenewedAt');
  (lease.state === 'active' ? forbidden : required).push('closedAt', 'closureReason');
  return { required, forbidden };
}
