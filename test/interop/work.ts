// One WorkItem and the Commands on it; what an answer teaches is kept for the next Command.
import type { Actor } from './actor.ts';
import { artifactDraft, basisDraft, evidenceDraft, inSeconds, newId, now, type Place } from './drafts.ts';
import { payloadOf, type Group } from './group.ts';
import type { JsonObject } from './sdk.ts';

const EXTENSION = 'ext.missionweaveprotocol.core';

export class Work {
  readonly workItemId = newId();
  readonly artifactHashes: string[] = [];
  private readonly artifactIds: string[] = [];
  private readonly group: Group;
  private readonly contract: JsonObject;
  private ownershipEpoch = 0;
  private executionLeaseId = '';

  constructor(group: Group, contract: JsonObject) {
    this.group = group;
    this.contract = contract;
  }

  get place(): Place {
    const { missionId, groupId } = this.group;
    return { missionId, groupId, workItemId: this.workItemId };
  }

  private get envelope(): JsonObject {
    return { workItemId: this.workItemId };
  }

  get underLease(): JsonObject {
    const { workItemId, ownershipEpoch, executionLeaseId } = this;
    return { workItemId, ownershipEpoch, executionLeaseId };
  }

  async propose(member: Actor): Promise<string> {
    const proposalId = newId();
    await this.group.does(member, 'work.propose', { proposalId, contract: this.contract });
    return proposalId;
  }

  async authorize(proposalId?: string): Promise<void> {
    const { workItemId, contract } = this;
    const payload = { workItemId, contract, ...(proposalId !== undefined && { proposalId }) };
    await this.group.does(this.group.cast.cora, 'work.authorize', payload, this.envelope);
  }

  async offer(candidates: readonly Actor[]): Promise<void> {
    const payload = {
      workItemId: this.workItemId,
      candidateAgentIds: candidates.map(({ principal }) => principal.id),
      selectionBasis: basisDraft(),
      offerExpiresInSeconds: 300,
    };
    await this.group.does(this.group.cast.cora, 'work.offer', payload, this.envelope);
  }

  async accept(worker: Actor): Promise<void> {
    const estimatedStart = inSeconds(60);
    const scheduleEstimate = {
      estimatedStart,
      estimatedCompletion: inSeconds(600),
      confidence: 0.75,
      capacityStatus: 'available',
      lastCalculatedAt: now(),
    };
    const payload = { workItemId: this.workItemId, ownershipLeaseSeconds: 900, scheduleEstimate };
    const events = await this.group.does(worker, 'work.accept_offer', payload, this.envelope);
    this.ownershipEpoch = Number(payloadOf(events, 'work.offer.accepted')['ownershipEpoch']);
  }

  /** The MissionOwner's signed Execution Approval of this work; `scope` is what the Command and its conditions say. */
  async approveExecution(owner: Actor, missionRevision: number, scope: JsonObject): Promise<void> {
    const { sdk } = this.group.stage;
    const { workItemId, ownershipEpoch } = this;
    const expiresAt = inSeconds(300);
    const { operations, resources, budget } = scope as {
      operations: string[];
      resources: string[];
      budget: JsonObject;
    };
    const approval = owner.sign('approval', {
      ...this.place,
      approvalId: newId(),
      kind: 'work_execution',
      decision: 'approved',
      missionRevision,
      artifactHashes: [],
      acceptancePolicyVersion: '1.0.0',
      approver: owner.principal,
      comments: 'Go ahead, once',
      conditions: [
        ...operations.map((operation) => `operation:${operation}`),
        ...resources.map((resource) => `resource:${resource}`),
        `ownershipEpoch:${ownershipEpoch}`,
        `expiresAt:${expiresAt}`,
        `budgetHash:${sdk.sha256Identifier(sdk.canonicalizeJson(budget))}`,
      ],
      occurredAt: now(),
    });
    const payload = { workItemId, ownershipEpoch, approval, ...scope, expiresAt };
    await this.group.does(owner, 'approval.grant_execution', payload, this.envelope);
  }

  async start(worker: Actor): Promise<void> {
    const { workItemId, ownershipEpoch } = this;
    const payload = { workItemId, ownershipEpoch, executionLeaseSeconds: 300 };
    const events = await this.group.does(worker, 'work.start', payload, this.envelope);
    const { leaseId } = payloadOf(events, 'work.started')['executionLease'] as { leaseId: string };
    this.executionLeaseId = leaseId;
  }

  async renew(worker: Actor): Promise<void> {
    const progress = {
      currentPhase: 'drafting',
      completedMilestones: ['outline'],
      nextCheckpoint: 'when both languages stand',
      blockers: [],
      updatedCompletionEstimate: inSeconds(600),
      evidenceIds: [],
    };
    const payload = { ...this.underLease, leaseSeconds: 600, progress };
    await this.group.does(worker, `${EXTENSION}.work_execution_lease_renew`, payload, this.envelope);
  }

  async use(worker: Actor): Promise<void> {
    const payload = { ...this.underLease, usageDelta: { modelTokens: 1_200, financialMicrounits: 40_000 } };
    await this.group.does(worker, `${EXTENSION}.resource_usage_record`, payload, this.envelope);
  }

  private get checkpointed(): JsonObject {
    return { phase: 'one language', completedMilestones: ['outline'], nextStep: 'the other', createdAt: now() };
  }

  async checkpoint(worker: Actor): Promise<void> {
    const payload = { ...this.underLease, checkpoint: this.checkpointed, resumeWithinSeconds: 600 };
    await this.group.does(worker, 'work.checkpoint', payload, this.envelope);
  }

  async block(worker: Actor): Promise<void> {
    const payload = { ...this.underLease, reason: 'Which spelling is the house style?', checkpoint: this.checkpointed };
    await this.group.does(worker, 'work.block', payload, this.envelope);
    const resolution = { workItemId: this.workItemId, resolution: 'The long one' };
    await this.group.does(this.group.cast.cora, 'work.unblock', resolution, this.envelope);
  }

  async publish(worker: Actor, content: string, sources: readonly string[] = []): Promise<void> {
    const { sdk, checks } = this.group.stage;
    const artifact = worker.sign('artifact', artifactDraft(this.place, worker, content, sources));
    const { artifactId, contentHash } = artifact as { artifactId: string; contentHash: string };
    checks.equal(
      'the official hash of the content is what the manifest says',
      sdk.sha256Identifier(content),
      contentHash,
    );
    const { ownershipEpoch, executionLeaseId } = this;
    await this.group.does(worker, 'artifact.publish', { artifact, ownershipEpoch, executionLeaseId }, this.envelope);
    this.artifactIds.push(artifactId);
    this.artifactHashes.push(contentHash);
  }

  evidence(signer: Actor, members: JsonObject = {}): JsonObject {
    return signer.sign('evidence', { ...evidenceDraft(this.place, signer, this.artifactHashes), ...members });
  }

  async submit(worker: Actor): Promise<void> {
    const payload = { ...this.underLease, artifactIds: this.artifactIds, evidence: [this.evidence(worker)] };
    await this.group.does(worker, 'work.submit', payload, this.envelope);
  }

  async acceptResult(): Promise<void> {
    const { cora } = this.group.cast;
    const evidence = [this.evidence(cora, { type: 'reviewer_assessment', method: 'Read both languages side by side' })];
    await this.group.does(cora, 'work.accept_result', { workItemId: this.workItemId, evidence }, this.envelope);
  }

  async fail(worker: Actor): Promise<void> {
    const evidence = [
      this.evidence(worker, { type: 'failure_report', result: 'failed', method: 'It would not build' }),
    ];
    const payload = { ...this.underLease, reason: 'It would not build', failureCode: 'BUILD_FAILED', evidence };
    await this.group.does(worker, 'work.fail', payload, this.envelope);
  }

  async cancel(): Promise<void> {
    const payload = { workItemId: this.workItemId, reason: 'Not needed any more' };
    await this.group.does(this.group.cast.cora, 'work.cancel', payload, this.envelope);
  }
}
