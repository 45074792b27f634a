// What the decisions of a transaction will have written when it commits, laid over what the database answers: the next
// decision of the same transaction must see it (group commit). Rows only, no rule.
import type { LoadedAggregate, Read, RecentRead } from '../domain/reads.ts';
import { samePrincipal } from '../protocol/principals.ts';
import { addSeconds, compareTimestamps } from '../protocol/timestamps.ts';
import { receiptKey } from './batch-plan.ts';
import type { AdmissionRow, EventRow, ReceiptKey, ReceiptRow, StreamHead, Transition } from './port.ts';
import type { Answer } from './read-answers.ts';

type PendingAggregate = Transition['aggregates'][number];

export class PendingWrites {
  readonly transitions: Transition[] = [];
  private readonly heads = new Map<string, StreamHead>();
  private readonly aggregates = new Map<string, PendingAggregate>();
  private readonly events: EventRow[] = [];
  private readonly receipts = new Map<string, ReceiptRow>();
  private readonly admissions = new Map<string, AdmissionRow>();
  private readonly values = new Map<string, string>();

  add(transition: Transition): void {
    this.transitions.push(transition);
    for (const { head } of transition.streams) this.heads.set(head.streamId, head);
    for (const change of transition.aggregates) this.aggregates.set(`${change.kind} ${change.id}`, change);
    this.events.push(...transition.events);
    this.receipts.set(receiptKey(transition.receipt), transition.receipt);
    for (const row of transition.admissions) this.admissions.set(row.signingHash, row);
    for (const { groupId, commitment, value } of transition.texts) this.values.set(`${groupId} ${commitment}`, value);
  }

  head(streamId: string): StreamHead | undefined {
    return this.heads.get(streamId);
  }

  receipt(key: ReceiptKey): ReceiptRow | undefined {
    return this.receipts.get(receiptKey(key));
  }

  admission(signingHash: string): AdmissionRow | undefined {
    return this.admissions.get(signingHash);
  }

  text(groupId: string, commitment: string): string | undefined {
    return this.values.get(`${groupId} ${commitment}`);
  }

  /** `now`: of the decision, for the Events that count as recent. */
  answer(read: Read, stored: Answer, now: string): Answer {
    if (this.transitions.length === 0) return stored;
    if (read.read === 'one') {
      const change = this.aggregates.get(`${read.kind} ${read.id}`);
      return change ? { aggregates: [loadedFrom(change)] } : stored;
    }
    if ('recent' in stored) return { recent: this.recent(read as RecentRead, stored.recent, now) };
    const kept = stored.aggregates.filter(({ kind, id }) => !this.aggregates.has(`${kind} ${id}`));
    const changed = [...this.aggregates.values()].filter((change) => answers(change, read)).map(loadedFrom);
    return { aggregates: [...kept, ...changed] };
  }

  private recent(
    { groupId, eventKind, actor, seconds }: RecentRead,
    stored: { count: number; oldest?: string },
    now: string,
  ) {
    const since = addSeconds(now, -seconds);
    const times = this.events
      .filter((event) => event.groupId === groupId && event.kind === eventKind && samePrincipal(event.actor, actor))
      .map(({ occurredAt }) => occurredAt)
      .filter((occurredAt) => compareTimestamps(occurredAt, since) > 0);
    const oldest = stored.oldest ?? times[0];
    return { count: stored.count + times.length, ...(oldest !== undefined && { oldest }) };
  }
}

function answers({ kind, groupId, index }: PendingAggregate, read: Read): boolean {
  if (read.read !== 'list' || kind !== read.kind) return false;
  if (read.groupId !== undefined && groupId !== read.groupId) return false;
  if (read.states !== undefined && !read.states.includes(index.state ?? '')) return false;
  if (read.holder !== undefined && index.holder !== read.holder) return false;
  return read.parent === undefined || index.parent === read.parent;
}

function loadedFrom({ kind, id, groupId, expectedVersion, document }: PendingAggregate): LoadedAggregate {
  return { kind, id, groupId, version: expectedVersion + 1, document };
}
