// A complete Work Contract, for suites and for runs outside of them: knows no test runner.

/** What the Agents of the tests can do. */
export const CODING = { id: 'software.coding', version: '1.2.0' };

export function workContract(deadline: string, overrides: object = {}): Record<string, unknown> {
  return {
    contractVersion: 1,
    goal: 'Write the code',
    requiredDeliverables: [
      {
        deliverableId: 'code',
        description: 'The code',
        mediaType: 'text/plain',
        schema: 'https://schemas.example/code',
      },
    ],
    acceptanceCriteria: [{ criterionId: 'works', description: 'It works', evidenceRequired: ['deterministic_test'] }],
    inputArtifacts: [],
    dependencyWorkItemIds: [],
    allowedResources: [],
    requiredCapabilities: [CODING],
    deadline,
    requestedUrgency: 'normal',
    businessImpact: 'The release waits for it',
    retryPolicy: { maxAttempts: 3, backoff: 'fixed', maxDelay: 'PT1M', retryableFailures: [] },
    budget: { modelTokenLimit: 1_000 },
    sideEffectRisk: 'none',
    executionApproval: 'not_required',
    ...overrides,
  };
}
