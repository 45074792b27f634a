// The life of one WorkItem, again and again: proposed, authorized, offered to two who race for it, started, metered, left at
// a checkpoint or interrupted by a new session, published, submitted, accepted; sometimes failed or cancelled.
import { randomUUID } from 'node:crypto';
import type { Accepted } from '../../../src/worker/answers.ts';
import type { CommandDraft } from '../../../src/worker/commands.ts';
import { signArtifact, signEvidence } from '../../../src/worker/documents.ts';
import type { Actor } from '../actor.ts';
import type { Chance } from '../random.ts';
import type { Team } from '../world.ts';
import { CODING, workContract } from '../../support/work-contract.ts';

const DEADLINE = '2098-01-01T00:00:00Z';
const METER = 'ext.missionweaveprotocol.core.resource_usage_record';
const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';

/** One WorkItem. Whatever is refused on the way ends it: two raced, or a new session took it away. */
export async function workOnce(team: Team, chance: Chance): Promise<void> {
  const workItemId = id();
  const coordinate = (kind: CommandDraft['kind'], payload: object) =>
    team.coordinator.submit({ kind, groupId: team.groupId, payload: { ...payload } }, { coordinatorEpoch: 1 });
  if (chance.isLucky(0.3)) await propose(team, chance.of(team.workers));
  if (!(await coordinate('work.authorize', { workItemId, contract: workContract(DEADLINE) }))) return;
  if (!(await coordinate('work.offer', offer(workItemId, team.workers)))) return;
  const done = await perform(new Task(team, workItemId), chance);
  if (!done) return void (await coordinate('work.cancel', { workItemId, reason: 'It did not go on' }));
  const evidence = [done.evidence(team.coordinator, 'reviewer_assessment')];
  await coordinate('work.accept_result', { workItemId, evidence });
}

async function perform(task: Task, chance: Chance): Promise<Task | undefined> {
  if (!(await task.accept())) return undefined;
  if (chance.isLucky(0.1)) return undefined;
  if (!(await task.start())) return undefined;
  if (chance.isLucky(0.5)) await task.under(METER, { usageDelta: { modelTokens: chance.whole(1, 20) } });
  if (chance.isLucky(0.3)) await task.under(RENEW, { leaseSeconds: 3_600 });
  if (chance.isLucky(0.2)) {
    // Its leases end, in all Groups; the item waits to be resumed.
    await task.worker.openSession();
    if (!(await task.start())) return undefined;
  }
  if (chance.isLucky(0.3)) {
    if (!(await task.under('work.checkpoint', { checkpoint: checkpoint() }))) return undefined;
    if (!(await task.start())) return undefined;
  }
  return (await task.publish()) && (await task.submit()) ? task : undefined;
}

export class Task {
  leaseEnd = '';
  worker: Actor;
  private readonly team: Team;
  private readonly workItemId: string;
  private ownershipEpoch = 0;
  private executionLeaseId = '';
  private artifact: ReturnType<typeof signArtifact> | undefined;

  constructor(team: Team, workItemId: string) {
    this.team = team;
    this.workItemId = workItemId;
    this.worker = team.coordinator;
  }

  /** An active WorkItem of that worker, under a lease of so many seconds. */
  static async begun(team: Team, worker: Actor, leaseSeconds: number): Promise<Task> {
    const task = new Task(team, id());
    const { workItemId } = task;
    const coordinate = (kind: CommandDraft['kind'], payload: object) =>
      team.coordinator.submit({ kind, groupId: team.groupId, payload: { ...payload } }, { coordinatorEpoch: 1 });
    await coordinate('work.authorize', { workItemId, contract: workContract(DEADLINE) });
    await coordinate('work.offer', offer(workItemId, [worker]));
    if (!(await task.accept([worker])) || !(await task.start(leaseSeconds))) throw new Error('work did not begin');
    return task;
  }

  /** Milliseconds. */
  leaseLeft(): number {
    return Math.max(0, Date.parse(this.leaseEnd) - Date.now());
  }

  /** All candidates at once; one gets it. */
  async accept(candidates: readonly Actor[] = this.team.workers): Promise<boolean> {
    const payload = { workItemId: this.workItemId, ownershipLeaseSeconds: 3_600 };
    const answers = await Promise.all(
      candidates.map(async (worker) => ({
        worker,
        answer: await this.say(worker, 'work.accept_offer', payload),
      })),
    );
    const won = answers.find(({ answer }) => answer !== undefined);
    if (!won?.answer) return false;
    this.worker = won.worker;
    this.ownershipEpoch = payloadOf(won.answer, 'work.offer.accepted')['ownershipEpoch'] as number;
    return true;
  }

  async start(executionLeaseSeconds = 3_600): Promise<boolean> {
    const payload = { workItemId: this.workItemId, ownershipEpoch: this.ownershipEpoch, executionLeaseSeconds };
    const answer = await this.say(this.worker, 'work.start', payload);
    if (!answer) return false;
    const lease = payloadOf(answer, 'work.started')['executionLease'] as { leaseId: string; expiresAt: string };
    this.executionLeaseId = lease.leaseId;
    this.leaseEnd = lease.expiresAt;
    return true;
  }

  under(kind: CommandDraft['kind'], payload: object): Promise<Accepted | undefined> {
    const { workItemId, ownershipEpoch, executionLeaseId } = this;
    return this.say(this.worker, kind, { workItemId, ownershipEpoch, executionLeaseId, ...payload });
  }

  publish(): Promise<Accepted | undefined> {
    const { missionId, groupId } = this.team;
    this.artifact = signArtifact(this.worker.key, {
      content: `the code of ${this.workItemId}`,
      producer: { agentCardVersion: 1, capabilities: [CODING] },
      missionId,
      groupId,
      workItemId: this.workItemId,
      mediaType: 'text/plain',
      schemaUri: 'https://schemas.example/code',
    });
    const { ownershipEpoch, executionLeaseId, artifact } = this;
    return this.say(this.worker, 'artifact.publish', { artifact, ownershipEpoch, executionLeaseId });
  }

  submit(): Promise<Accepted | undefined> {
    const evidence = [this.evidence(this.worker, 'deterministic_test')];
    return this.under('work.submit', { artifactIds: [this.artifact?.artifactId], evidence });
  }

  evidence(actor: Actor, type: 'deterministic_test' | 'reviewer_assessment') {
    const { missionId, groupId } = this.team;
    return signEvidence(actor.key, {
      missionId,
      groupId,
      workItemId: this.workItemId,
      type,
      criterionIds: ['works'],
      method: 'Ran it',
      artifactHashes: [this.artifact?.contentHash ?? ''],
    });
  }

  private say(actor: Actor, kind: CommandDraft['kind'], payload: Record<string, unknown>) {
    return actor.submit({ kind, groupId: this.team.groupId, payload });
  }
}

async function propose({ groupId }: Team, worker: Actor): Promise<void> {
  await worker.submit({
    kind: 'work.propose',
    groupId,
    payload: { proposalId: id(), contract: workContract(DEADLINE) },
  });
}

function offer(workItemId: string, candidates: readonly Actor[]): object {
  return {
    workItemId,
    candidateAgentIds: candidates.map((candidate) => candidate.id),
    selectionBasis: {
      requiredCapabilities: [CODING],
      verifiedMatches: [CODING],
      authorizationEligible: true,
      availabilityEstimate: new Date().toISOString(),
      expectedCost: 1,
      reliabilityEvidence: [],
      policyRulesApplied: ['default'],
    },
  };
}

function checkpoint(): object {
  return { phase: 'half', completedMilestones: ['one'], nextStep: 'two', createdAt: new Date().toISOString() };
}

function payloadOf({ events }: Accepted, kind: string): Record<string, unknown> {
  return events.find((event) => event.kind === kind)?.payload ?? {};
}

export function id(): string {
  return `urn:uuid:${randomUUID()}`;
}
