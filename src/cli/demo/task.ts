// One WorkItem of a play, and the verbs on it: each one Command, with what its answer teaches kept for the next.

import { randomUUID } from 'node:crypto';
import type { Lease } from '../../protocol/documents/lease.ts';
import { timestampFromMillis } from '../../protocol/timestamps.ts';
import type { SignedDocument } from '../../trust/signed-kinds.ts';
import type { Accepted } from '../../worker/answers.ts';
import { signArtifact, signEvidence } from '../../worker/documents.ts';
import type { Actor } from './actor.ts';
import { CAPABILITY_VERSION, CARD_VERSION } from './cast.ts';
import { StoryStopped } from './checks.ts';
import { contractFor, selectionBasisFor } from './contract.ts';
import { answerOf, eventIn, type Line, type Play } from './play.ts';
import type { PlotItem } from './plot.ts';
import { usageInWords, type Usage } from './usage.ts';

export const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';
export const USE = 'ext.missionweaveprotocol.core.resource_usage_record';

export class Task {
  readonly play: Play;
  readonly item: PlotItem;
  readonly workItemId = `urn:uuid:${randomUUID()}`;
  readonly contract: ReturnType<typeof contractFor>;
  readonly artifacts: SignedDocument<'artifact'>[] = [];
  /** The item's own Conversation; known once it is authorized. */
  conversationId = '';
  ownershipEpoch = 0;
  leaseId = '';
  private holder: Actor | undefined;

  constructor(play: Play, item: PlotItem, dependsOn: readonly Task[]) {
    this.play = play;
    this.item = item;
    this.contract = contractFor(
      item,
      dependsOn.map(({ workItemId }) => workItemId),
    );
  }

  get owner(): Actor {
    if (this.holder === undefined) throw new StoryStopped(`${this.item.name} has an owner`);
    return this.holder;
  }

  get name(): string {
    return this.item.name;
  }

  /** Members that every Command about this WorkItem carries in its envelope. */
  get line(): Line {
    return { workItemId: this.workItemId };
  }

  /** What the owner proves in each Command while it works: it owns the item, and its lease is the current one. */
  get underLease() {
    const { workItemId, ownershipEpoch, leaseId } = this;
    return { workItemId, ownershipEpoch, executionLeaseId: leaseId };
  }

  async authorize(coordinator: Actor, proposalId?: string): Promise<void> {
    const { workItemId, contract } = this;
    const payload = { workItemId, contract, ...(proposalId !== undefined && { proposalId }) };
    const say = proposalId === undefined ? `authorizes ${this.name}` : `authorizes ${this.name} as proposed`;
    const answer = await this.play.does(coordinator, say, 'work.authorize', payload, this.line);
    this.conversationId = eventIn(answer, 'work.authorized').conversationId ?? '';
    this.play.oneMoreAuthorized();
  }

  async offer(coordinator: Actor, candidates: readonly Actor[]): Promise<void> {
    const payload = {
      workItemId: this.workItemId,
      candidateAgentIds: candidates.map(({ principal }) => principal.id),
      selectionBasis: selectionBasisFor(this.item),
      offerExpiresInSeconds: 300,
    };
    const names = candidates.map(({ name }) => name).join(' and ');
    await this.play.does(coordinator, `offers ${this.name} to ${names}`, 'work.offer', payload, this.line);
  }

  get acceptance() {
    return { workItemId: this.workItemId, ownershipLeaseSeconds: 900 };
  }

  async accept(worker: Actor): Promise<void> {
    const say = `accepts ${this.name}`;
    this.owned(worker, await this.play.does(worker, say, 'work.accept_offer', this.acceptance, this.line));
  }

  owned(worker: Actor, answer: Accepted): void {
    const { ownershipEpoch } = eventIn(answer, 'work.offer.accepted').payload as { ownershipEpoch: number };
    this.holder = worker;
    this.ownershipEpoch = ownershipEpoch;
  }

  get starting() {
    const { workItemId, ownershipEpoch } = this;
    return { workItemId, ownershipEpoch, executionLeaseSeconds: 120 };
  }

  async start(say = `starts ${this.name}`): Promise<void> {
    const answer = await this.play.does(this.owner, say, 'work.start', this.starting, this.line);
    const { executionLease } = eventIn(answer, 'work.started').payload as { executionLease: Lease };
    this.leaseId = executionLease.leaseId;
  }

  async renew(phase: string, milestones: readonly string[]): Promise<void> {
    const now = timestampFromMillis(Date.now());
    const progress = {
      currentPhase: phase,
      completedMilestones: milestones,
      nextCheckpoint: 'when the deliverable is whole',
      blockers: [],
      updatedCompletionEstimate: now,
      evidenceIds: [],
    };
    const payload = { ...this.underLease, leaseSeconds: 300, progress };
    await this.play.does(this.owner, `renews the lease: ${phase}`, RENEW, payload, this.line);
  }

  async use(usageDelta: Usage): Promise<void> {
    const payload = { ...this.underLease, usageDelta };
    await this.play.does(this.owner, `books ${usageInWords(usageDelta)} on ${this.name}`, USE, payload, this.line);
  }

  async publish(content: string, sources: readonly Task[]): Promise<SignedDocument<'artifact'>> {
    const { missionId, groupId } = this.play;
    const artifact = signArtifact(this.owner.key, {
      missionId,
      groupId,
      workItemId: this.workItemId,
      content,
      mediaType: this.item.mediaType,
      schemaUri: `https://demo.example/schemas/${this.name}`,
      producer: {
        agentCardVersion: CARD_VERSION,
        capabilities: [{ id: this.item.capability, version: CAPABILITY_VERSION }],
      },
      sourceArtifactHashes: [...new Set(sources.flatMap(({ artifacts }) => artifacts).map((one) => one.contentHash))],
      toolVersions: [{ name: 'node', version: process.versions.node }],
      modelVersions: [{ provider: 'demo', model: 'scripted', version: '1' }],
    });
    const put = await this.owner.client.putContent(new Uint8Array(Buffer.from(content)));
    const { contentHash, sizeBytes } = artifact;
    const claim = `${this.play.lane}: the bytes of ${this.item.file} are stored under the hash of their manifest`;
    this.play.checks.mustEqual(claim, put.ok ? put.value : answerOf(put), { contentHash, sizeBytes });
    const { ownershipEpoch, leaseId } = this;
    const payload = { artifact, ownershipEpoch, executionLeaseId: leaseId };
    const say = `publishes ${this.item.file} (${short(artifact.contentHash)})`;
    await this.play.does(this.owner, say, 'artifact.publish', payload, this.line);
    this.artifacts.push(artifact);
    return artifact;
  }

  checkpoint(phase: string, nextStep: string) {
    return { phase, completedMilestones: [phase], nextStep, createdAt: timestampFromMillis(Date.now()) };
  }

  /** Evidence of that signer about this item, covering its criterion. */
  evidence(signer: Actor, type: Evidence['type'], method: string, details: object = {}): Evidence {
    const { missionId, groupId } = this.play;
    return signEvidence(signer.key, {
      missionId,
      groupId,
      workItemId: this.workItemId,
      type,
      criterionIds: [this.item.criterion.criterionId],
      method,
      details: { ...details },
      artifactHashes: this.artifacts.map(({ contentHash }) => contentHash),
    });
  }

  async submit(evidence: readonly Evidence[]): Promise<void> {
    const artifactIds = this.artifacts.map(({ artifactId }) => artifactId);
    const payload = { ...this.underLease, artifactIds, evidence };
    await this.play.does(this.owner, `submits ${this.name} with signed Evidence`, 'work.submit', payload, this.line);
  }

  async acceptResult(coordinator: Actor, method: string): Promise<void> {
    const evidence = [this.evidence(coordinator, this.item.criterion.evidence, method)];
    const payload = { workItemId: this.workItemId, evidence };
    const say = `accepts the result of ${this.name}  ${this.play.oneMoreVerified()}`;
    await this.play.does(coordinator, say, 'work.accept_result', payload, { ...this.line, tone: 'good' });
  }
}

export type Evidence = SignedDocument<'evidence'>;

/** The first digits of a hash, enough to recognise it on the screen. */
export function short(hash: string): string {
  return hash.replace('sha256:', '').slice(0, 8);
}
