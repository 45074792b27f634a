// Group commit (design sections 4 and 12): acceptances of one Organization that wait at the same time are decided one after
// the other in one transaction and committed at once. Shared by both adapters; knows no SQL and no rule.
import type { Policy } from '../domain/policy.ts';
import type { Read } from '../domain/reads.ts';
import { readKey } from '../domain/reads.ts';
import type { GroupId, OrganizationId } from '../protocol/ids.ts';
import { batchPlan, mayShare, receiptKey, type BatchPlan } from './batch-plan.ts';
import type { FairQueue } from './fair-queue.ts';
import type { StoreObserver } from './observer.ts';
import { lockedGroups } from './lock-order.ts';
import { PendingWrites } from './pending-writes.ts';
import {
  StoreFault,
  type Acceptance,
  type AcceptanceOutcome,
  type AcceptancePlan,
  type AdmissionRow,
  type Opened,
  type ReceiptRow,
  type RecordReader,
  type StreamHead,
  type Transition,
} from './port.ts';
import { loadedReads, type Answers } from './read-answers.ts';

/** Decisions that share a transaction: beyond it little is saved, and the first has waited for all of them. */
export const SHARING_MAXIMUM = 32;

/** A transaction that an adapter has begun; what it does not commit is rolled back. */
export interface BatchTransaction {
  /** Locks, then reads. */
  open(plan: BatchPlan): Promise<StoredBatch>;
  load(reads: Read[], now: string): Promise<Answers>;
  texts(groupId: string, commitments: string[]): Promise<Map<string, string>>;
  eventsOfMessage: Acceptance['eventsOfMessage'];
  lockGroups(groupIds: GroupId[]): Promise<StreamHead[]>;
  streamHeads(streamIds: string[]): Promise<StreamHead[]>;
  record(): RecordReader;
  /** Writes them in this order, as one unit, and commits. */
  commit(transitions: Transition[]): Promise<void>;
}

export interface StoredBatch {
  now: string;
  registryRevision: number;
  policy: Policy;
  receipts: ReceiptRow[];
  admissions: AdmissionRow[];
  heads: StreamHead[];
  answers: Answers;
}

/** Runs `work` in a transaction. `retried`: again, a bounded number of times, when the database broke it to resolve a race. */
export type Transact = (
  organizationId: OrganizationId,
  runs: 'once' | 'retried',
  work: (transaction: BatchTransaction) => Promise<void>,
) => Promise<void>;

type Decide<Result> = (opened: Opened, acceptance: Acceptance) => Promise<AcceptanceOutcome<Result>>;

type CommitObserver = Pick<StoreObserver, 'transitionsCommitted'>;

/** An acceptance that waits for its turn. */
export interface WaitingAcceptance {
  plan: AcceptancePlan;
  decide: Decide<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** It asks for what the others of its transaction must not wait for. Runs again alone. */
class NotTogether extends Error {}

export class GroupCommit {
  private readonly queue: FairQueue<WaitingAcceptance>;
  private readonly transact: Transact;
  private readonly observer: CommitObserver;

  constructor(queue: FairQueue<WaitingAcceptance>, transact: Transact, observer: CommitObserver) {
    this.queue = queue;
    this.transact = transact;
    this.observer = observer;
  }

  accept<Result>(organizationId: OrganizationId, plan: AcceptancePlan, decide: Decide<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const waiting = { plan, decide, resolve: resolve as WaitingAcceptance['resolve'], reject };
      const begun = mayShare(plan) ? this.share(organizationId, waiting) : this.alone(organizationId, waiting);
      begun.catch(reject);
    });
  }

  private async share(organizationId: OrganizationId, waiting: WaitingAcceptance): Promise<void> {
    const turn = await this.queue.share(turnOf(organizationId, waiting), waiting);
    if (!turn) return;
    try {
      if (turn.loads.length === 1) await this.run(organizationId, 'retried', turn.loads);
      else await this.together(organizationId, turn.loads);
    } finally {
      turn.end();
    }
  }

  private alone(organizationId: OrganizationId, waiting: WaitingAcceptance): Promise<void> {
    return this.queue.run(turnOf(organizationId, waiting), () => this.run(organizationId, 'retried', [waiting]));
  }

  private async together(organizationId: OrganizationId, loads: WaitingAcceptance[]): Promise<void> {
    try {
      await this.run(organizationId, 'once', loads);
    } catch (error) {
      // Whoever is to blame must not take the others along. What may have been committed is not tried again here.
      const isOver = error instanceof StoreFault && error.kind === 'unavailable';
      for (const waiting of loads) {
        if (isOver) waiting.reject(error);
        else this.alone(organizationId, waiting).catch(waiting.reject);
      }
    }
  }

  /** Nobody hears of a result before the commit: a refusal, too, may rest on what another of them will have written. */
  private async run(
    organizationId: OrganizationId,
    runs: 'once' | 'retried',
    loads: WaitingAcceptance[],
  ): Promise<void> {
    let answers: (() => void)[] = [];
    let written = 0;
    await this.transact(organizationId, runs, async (transaction) => {
      const shared = new SharedTransaction(transaction, loads.length > 1);
      const stored = await transaction.open(batchPlan(loads.map(({ plan }) => plan)));
      answers = [];
      for (const waiting of loads) answers.push(await shared.decide(stored, waiting));
      written = shared.pending.transitions.length;
      if (written > 0) await transaction.commit(shared.pending.transitions);
    });
    if (written > 0) this.observer.transitionsCommitted(written);
    for (const answer of answers) answer();
  }
}

/** One transaction, seen by the decisions that share it. */
class SharedTransaction {
  readonly pending = new PendingWrites();
  private readonly transaction: BatchTransaction;
  private readonly hasCompany: boolean;

  constructor(transaction: BatchTransaction, hasCompany: boolean) {
    this.transaction = transaction;
    this.hasCompany = hasCompany;
  }

  async decide(stored: StoredBatch, { plan, decide, resolve, reject }: WaitingAcceptance): Promise<() => void> {
    const opened = this.openedFor(plan, stored);
    try {
      const { write, result } = await decide(opened, this.acceptanceOf(plan, opened));
      if (write?.registry && this.hasCompany) throw new NotTogether();
      if (write) this.pending.add(write);
      return () => resolve(result);
    } catch (error) {
      // The database's own, or nobody else's business.
      if (!this.hasCompany || error instanceof StoreFault || error instanceof NotTogether) throw error;
      return () => reject(error);
    }
  }

  private openedFor(plan: AcceptancePlan, stored: StoredBatch): Opened {
    const { now, registryRevision, policy } = stored;
    const storedReceipt = stored.receipts.find((row) => receiptKey(row) === receiptKey(plan.receipt));
    const receipt = this.pending.receipt(plan.receipt) ?? storedReceipt;
    return {
      now,
      registryRevision,
      policy,
      ...(receipt && { receipt }),
      admissions: [...new Set(plan.signingHashes)].flatMap(
        (hash) =>
          this.pending.admission(hash) ?? stored.admissions.find(({ signingHash }) => signingHash === hash) ?? [],
      ),
      heads: this.headsOf(plan.groups, stored.heads),
      loaded: this.loadedOf(plan.reads, stored.answers, now),
    };
  }

  private acceptanceOf(plan: AcceptancePlan, opened: Opened): Acceptance {
    const locked = lockedGroups(plan.groups);
    return {
      load: async (reads) => this.loadedOf(reads, await this.transaction.load(reads, opened.now), opened.now),
      texts: async (groupId, commitments) => {
        const texts = await this.transaction.texts(groupId, commitments);
        for (const commitment of commitments) {
          const pending = this.pending.text(groupId, commitment);
          if (pending !== undefined) texts.set(commitment, pending);
        }
        return texts;
      },
      eventsOfMessage: async (message) => {
        // What the others will have written is nowhere to be found yet.
        if (this.hasCompany) throw new NotTogether();
        return this.transaction.eventsOfMessage(message);
      },
      lockGroups: async (groupIds) => {
        if (this.hasCompany) throw new NotTogether();
        locked.add(groupIds);
        const heads = this.headsOf(groupIds, await this.transaction.lockGroups(groupIds));
        for (const [id, head] of heads) opened.heads.set(id, head);
        return heads;
      },
      streamHeads: async (ids) => this.headsOf(ids, await this.transaction.streamHeads(ids)),
      record: () => {
        if (this.hasCompany) throw new NotTogether();
        return this.transaction.record();
      },
    };
  }

  private headsOf(streamIds: readonly string[], stored: StreamHead[]): Map<string, StreamHead> {
    const heads = new Map<string, StreamHead>();
    for (const id of streamIds) {
      const head = this.pending.head(id) ?? stored.find(({ streamId }) => streamId === id);
      if (head) heads.set(id, head);
    }
    return heads;
  }

  private loadedOf(reads: Read[], answers: Answers, now: string) {
    return loadedReads(reads, (read) => {
      const stored = answers.get(readKey(read));
      return stored && this.pending.answer(read, stored, now);
    });
  }
}

function turnOf(organizationId: OrganizationId, { plan }: WaitingAcceptance) {
  const [group] = plan.groups;
  return group === undefined ? { lane: organizationId } : { lane: organizationId, key: group };
}
