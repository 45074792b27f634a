// From a plot item to the protocol's Work Contract and selection basis.

import type { WorkContract } from '../../protocol/documents/work-contract.ts';
import { addSeconds, timestampFromMillis } from '../../protocol/timestamps.ts';
import { CAPABILITY_VERSION } from './cast.ts';
import type { PlotItem } from './plot.ts';

export const CURRENCY = 'EUR';

export const MISSION_BUDGET = {
  currency: CURRENCY,
  financialLimit: 40,
  modelTokenLimit: 600_000,
  toolCallLimit: 300,
  externalSideEffectLimit: 2,
} as const;

const ITEM_BUDGET = { currency: CURRENCY, financialLimit: 5, modelTokenLimit: 60_000, toolCallLimit: 40 } as const;

/** Of the one WorkItem that touches production. */
export const DEPLOY = { operation: 'production.deploy', resource: 'https://demo.example/systems/production' } as const;

export function contractFor(item: PlotItem, dependencyWorkItemIds: string[]): WorkContract {
  const external = item.risk === 'external';
  const deploys = { resource: DEPLOY.resource, operations: [DEPLOY.operation] };
  return {
    contractVersion: 1,
    goal: item.goal,
    requiredDeliverables: [
      {
        deliverableId: item.name,
        description: item.file,
        mediaType: item.mediaType,
        schema: `https://demo.example/schemas/${item.name}`,
      },
    ],
    acceptanceCriteria: [
      {
        criterionId: item.criterion.criterionId,
        description: item.criterion.description,
        evidenceRequired: [item.criterion.evidence],
      },
    ],
    inputArtifacts: [],
    dependencyWorkItemIds,
    allowedResources: external ? [deploys] : [],
    requiredCapabilities: [{ id: item.capability, version: CAPABILITY_VERSION }],
    deadline: inOneHour(),
    requestedUrgency: 'normal',
    businessImpact: 'The mission waits for it',
    retryPolicy: { maxAttempts: 2, backoff: 'exponential', maxDelay: 'PT1M', retryableFailures: ['TIMEOUT'] },
    budget: { ...ITEM_BUDGET, ...(external && { externalSideEffectLimit: 1 }) },
    sideEffectRisk: item.risk,
    executionApproval: external ? 'human_required' : 'not_required',
  };
}

export function selectionBasisFor(item: PlotItem) {
  const capability = { id: item.capability, version: CAPABILITY_VERSION };
  return {
    requiredCapabilities: [capability],
    verifiedMatches: [capability],
    authorizationEligible: true,
    availabilityEstimate: timestampFromMillis(Date.now()),
    expectedCost: 1.5,
    reliabilityEvidence: [`https://demo.example/evidence/${item.capability}`],
    policyRulesApplied: ['capability-match', 'least-loaded-first'],
  };
}

/** The contracts end an hour from now, the missions two. */
export function inOneHour(): string {
  return addSeconds(timestampFromMillis(Date.now()), 3_600);
}

export function inTwoHours(): string {
  return addSeconds(timestampFromMillis(Date.now()), 7_200);
}
