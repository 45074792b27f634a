// A Mission played through a Tenant's authority, step by step, for suites that need real state in a real store.
import { randomUUID } from 'node:crypto';
import { signArtifact, signApproval, signEvidence } from '../../src/worker/documents.ts';
import type { CommandDraft, Epochs } from '../../src/worker/commands.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { CODING, type Tenant } from './tenant.ts';
import { workContract } from './work-contract.ts';

export const id = () => `urn:uuid:${randomUUID()}`;

const DAY = 86_400_000;

/** What a Mission asks of the Organization that it is played in. */
export type MissionTenant = Pick<Tenant, 'accept' | 'outcome' | 'now'>;

export interface StartedItem {
  workItemId: string;
  ownershipEpoch: number;
  executionLeaseId: string;
}

export class Mission {
  readonly missionId = id();
  readonly groupId = id();
  readonly tenant: MissionTenant;
  readonly owner: ActorKey;
  readonly coordinator: ActorKey;
  private readonly sessions = new Map<string, number>();

  private constructor(tenant: MissionTenant, owner: ActorKey, coordinator: ActorKey) {
    this.tenant = tenant;
    this.owner = owner;
    this.coordinator = coordinator;
  }

  static async create(
    tenant: MissionTenant,
    owner: ActorKey,
    coordinator: ActorKey,
    payload: object = {},
  ): Promise<Mission> {
    const mission = new Mission(tenant, owner, coordinator);
    await tenant.accept(owner, mission.creation(payload));
    return mission;
  }

  /** A Mission that nobody has created yet, to race for it. */
  static draft(tenant: MissionTenant, owner: ActorKey, coordinator: ActorKey): Mission {
    return new Mission(tenant, owner, coordinator);
  }

  creation(payload: object = {}): CommandDraft {
    return {
      kind: 'mission.create',
      groupId: this.groupId,
      payload: {
        missionId: this.missionId,
        groupId: this.groupId,
        coordinatorId: this.coordinator.principal.id,
        title: 'A release',
        objective: 'Ship the release',
        definitionOfDone: [{ criterionId: 'done', description: 'It is shipped', evidenceRequired: ['human_review'] }],
        budget: { currency: 'EUR', financialLimit: 100, modelTokenLimit: 100_000, toolCallLimit: 1_000 },
        deadline: this.later(30 * DAY),
        approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true },
        coordinatorLeaseSeconds: 86_400,
        ...payload,
      },
    };
  }

  later(milliseconds: number): string {
    return new Date(new Date(this.tenant.now()).getTime() + milliseconds).toISOString();
  }

  /** After another session_open the Agent's Commands carry this epoch. */
  inSession(agent: ActorKey, sessionEpoch: number): void {
    this.sessions.set(agent.principal.id, sessionEpoch);
  }

  epochsOf(actor: ActorKey, more: Epochs = {}): Epochs {
    if (actor.principal.type === 'human') return { membershipEpoch: 1, ...more };
    const sessionEpoch = this.sessions.get(actor.principal.id) ?? 1;
    const coordinating = actor === this.coordinator ? { coordinatorEpoch: 1 } : {};
    return { sessionEpoch, membershipEpoch: 1, ...coordinating, ...more };
  }

  draft(kind: CommandDraft['kind'], payload: Record<string, unknown>, more: Partial<CommandDraft> = {}): CommandDraft {
    return { kind, groupId: this.groupId, payload, ...more };
  }

  accept(
    actor: ActorKey,
    kind: CommandDraft['kind'],
    payload: Record<string, unknown>,
    more: Partial<CommandDraft> = {},
  ) {
    return this.tenant.accept(actor, this.draft(kind, payload, more), this.epochsOf(actor));
  }

  outcome(
    actor: ActorKey,
    kind: CommandDraft['kind'],
    payload: Record<string, unknown>,
    more: Partial<CommandDraft> = {},
  ) {
    return this.tenant.outcome(actor, this.draft(kind, payload, more), this.epochsOf(actor));
  }

  async join(agent: ActorKey, roles = ['worker']): Promise<void> {
    await this.accept(this.coordinator, 'membership.change', { principal: agent.principal, roles });
  }

  async say(actor: ActorKey, text: string, conversationId: string) {
    return this.accept(actor, 'message.post', { messageId: id(), conversationId, content: [{ type: 'text', text }] });
  }

  contract(overrides: object = {}): Record<string, unknown> {
    return workContract(this.later(20 * DAY), overrides);
  }

  async authorize(overrides: object = {}): Promise<string> {
    const workItemId = id();
    await this.accept(this.coordinator, 'work.authorize', { workItemId, contract: this.contract(overrides) });
    return workItemId;
  }

  async offer(workItemId: string, candidates: ActorKey[]): Promise<void> {
    await this.accept(this.coordinator, 'work.offer', {
      workItemId,
      candidateAgentIds: candidates.map(({ principal }) => principal.id),
      selectionBasis: {
        requiredCapabilities: [CODING],
        verifiedMatches: [CODING],
        authorizationEligible: true,
        availabilityEstimate: this.tenant.now(),
        expectedCost: 1,
        reliabilityEvidence: [],
        policyRulesApplied: ['default'],
      },
    });
  }

  /** Authorized, offered to the worker alone, accepted: queued at Ownership Epoch 1. */
  async queued(worker: ActorKey, overrides: object = {}): Promise<string> {
    const workItemId = await this.authorize(overrides);
    await this.offer(workItemId, [worker]);
    await this.accept(worker, 'work.accept_offer', { workItemId });
    return workItemId;
  }

  async start(worker: ActorKey, workItemId: string, ownershipEpoch = 1): Promise<StartedItem> {
    const { events } = await this.accept(worker, 'work.start', { workItemId, ownershipEpoch });
    const lease = events.at(-1)?.payload['executionLease'] as { leaseId: string };
    return { workItemId, ownershipEpoch, executionLeaseId: lease.leaseId };
  }

  async active(worker: ActorKey, overrides: object = {}): Promise<StartedItem> {
    return this.start(worker, await this.queued(worker, overrides));
  }

  async publish(
    worker: ActorKey,
    item: StartedItem,
    content = 'the code',
    producer = { agentCardVersion: 1, capabilities: [CODING] },
  ): Promise<{ artifactId: string; contentHash: string }> {
    const artifact = signArtifact(worker, {
      content,
      producer,
      missionId: this.missionId,
      groupId: this.groupId,
      workItemId: item.workItemId,
      mediaType: 'text/plain',
      schemaUri: 'https://schemas.example/code',
      createdAt: this.tenant.now(),
    });
    const { ownershipEpoch, executionLeaseId } = item;
    await this.accept(worker, 'artifact.publish', { artifact, ownershipEpoch, executionLeaseId });
    return artifact;
  }

  evidence(
    actor: ActorKey,
    workItemId: string,
    artifactHashes: string[],
    type: 'deterministic_test' | 'reviewer_assessment' | 'failure_report' = 'deterministic_test',
  ) {
    return signEvidence(actor, {
      missionId: this.missionId,
      groupId: this.groupId,
      workItemId,
      type,
      criterionIds: ['works'],
      method: 'Ran it',
      artifactHashes,
      createdAt: this.tenant.now(),
    });
  }

  /** From active to verified. Answers the content hash of its one Artifact. */
  async finish(worker: ActorKey, item: StartedItem, content?: string): Promise<string> {
    const { artifactId, contentHash } = await this.publish(worker, item, content);
    const evidence = [this.evidence(worker, item.workItemId, [contentHash])];
    await this.accept(worker, 'work.submit', { ...item, artifactIds: [artifactId], evidence });
    const review = this.evidence(this.coordinator, item.workItemId, [contentHash], 'reviewer_assessment');
    await this.accept(this.coordinator, 'work.accept_result', { workItemId: item.workItemId, evidence: [review] });
    return contentHash;
  }

  approval(
    missionRevision: number,
    artifactHashes: string[],
    decision: 'approved' | 'changes_requested' = 'approved',
    comments = '',
  ) {
    return signApproval(this.owner, {
      kind: 'mission_final',
      decision,
      missionId: this.missionId,
      groupId: this.groupId,
      missionRevision,
      artifactHashes,
      comments,
      occurredAt: this.tenant.now(),
    });
  }

  async submitForApproval(artifactHashes: string[]): Promise<number> {
    const { events } = await this.accept(this.coordinator, 'mission.submit_for_approval', { artifactHashes });
    return events[0]?.payload['missionRevision'] as number;
  }
}
