// The Work Contract: what a WorkItem asks for, allows and costs.

import { z } from 'zod';
import { acceptanceCriterion, array, atLeastOne, budget, capabilityRef, duration, extensions, id } from './shapes.ts';
import { jsonObject, localId, mediaType, pattern, positiveInteger, resourceGrant, sha256, text } from './shapes.ts';
import { timestamp, unique, uri } from './shapes.ts';

export const workContractSchema = z.strictObject({
  contractVersion: positiveInteger,
  goal: text(1, 10_000),
  requiredDeliverables: atLeastOne(
    z.strictObject({ deliverableId: localId, description: text(1, 4000), mediaType, schema: uri }),
  ),
  acceptanceCriteria: atLeastOne(acceptanceCriterion),
  inputArtifacts: unique(sha256),
  dependencyWorkItemIds: unique(id),
  allowedResources: array(resourceGrant),
  requiredCapabilities: atLeastOne(capabilityRef),
  deadline: timestamp,
  requestedUrgency: z.enum(['routine', 'normal', 'high', 'critical']),
  businessImpact: text(1, 4000),
  retryPolicy: z.strictObject({
    maxAttempts: positiveInteger,
    backoff: z.enum(['none', 'fixed', 'exponential']),
    maxDelay: duration,
    retryableFailures: unique(pattern(/^[A-Z][A-Z0-9_]{1,127}$/, 128, 'must be a failure code in capitals')),
  }),
  budget,
  sideEffectRisk: z.enum(['none', 'reversible', 'external', 'high_risk', 'destructive']),
  executionApproval: z.enum(['not_required', 'policy_required', 'human_required']),
  constraints: jsonObject.optional(),
  extensions: extensions.optional(),
});
export type WorkContract = z.infer<typeof workContractSchema>;
