// A world without a database: state folded from Events, Commands decided against exactly what their kind reads.
// Specs read: given a world, when this Command, then these Events or this refusal.
import { commitPayload } from '../../src/wire/commitments.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { isRefusal, type Refusal } from '../../src/protocol/refusals.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { commonReads, decideCommand, preparePayload, type Prepared } from '../../src/domain/decide.ts';
import { commandKindOf } from '../../src/domain/commands/catalogue.ts';
import { eventKindOf } from '../../src/domain/events/catalogue.ts';
import { evolve } from '../../src/domain/evolve.ts';
import type { Accepted, Command, DecisionContext } from '../../src/domain/decider.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.ts';
import type { LoadedReads, Read } from '../../src/domain/reads.ts';
import { View } from '../../src/domain/view.ts';

export interface FoldedEvent {
  kind: string;
  groupId?: string;
  sequence?: number;
  aggregateRevision?: number;
  workItemId?: string;
  conversationId?: string;
  actor: Principal;
  occurredAt: string;
  payload: Record<string, unknown>;
}

export type CommandDraft = Pick<Command, 'kind' | 'actor' | 'payload'> & Partial<Command>;

const SALT = 'a-salt-for-tests-only';

export class World {
  readonly view = new View({ complete: true });
  readonly events: FoldedEvent[] = [];
  now = '2026-11-29T12:00:00.000Z';
  policy: Policy = structuredClone(DEFAULT_POLICY);
  private readonly heads = new Map<string, number>();
  private readonly acceptedAt: { kind: string; groupId: string; actor: Principal; at: string }[] = [];
  private nextId = 1;
  private nextAction = 1;

  newId = (): string => `urn:uuid:00000000-0000-4000-8000-${String(this.nextId++).padStart(12, '0')}`;

  advance(seconds: number): void {
    this.now = addSeconds(this.now, seconds);
  }

  headOf(groupId: string): number {
    return this.heads.get(groupId) ?? 0;
  }

  /** Decides without keeping anything. */
  decide(draft: CommandDraft): Accepted | Refusal {
    const command = this.command(draft);
    const kind = commandKindOf(command.kind);
    if (!kind) throw new Error(`no such kind here: ${command.kind}`);
    const prepared = preparePayload(kind, command);
    const view = new View();
    const round = (reads: Read[]) => view.admit(reads, this.answer(reads));
    round(commonReads(command, kind));
    if (prepared.payload.ok) {
      const request = { command, payload: prepared.payload.value };
      round(kind.reads(request));
      for (;;) {
        const more = (kind.moreReads?.(request, view) ?? []).filter((read) => !view.isLoaded(read));
        if (more.length === 0) break;
        round(more);
      }
    }
    const decision = decideCommand(prepared, view, this.context(prepared));
    if (!isRefusal(decision)) this.foldInto(view, command, decision, []);
    return decision;
  }

  /** Decides and folds; throws with the refusal when it is refused. Answers the Events, first one first. */
  accept(draft: CommandDraft): FoldedEvent[] {
    const command = this.command(draft);
    const decision = this.decide(command);
    if (isRefusal(decision)) throw new Error(`${command.kind} refused: ${decision.code} ${decision.message}`);
    const events: FoldedEvent[] = [];
    this.foldInto(this.view, command, decision, events);
    for (const event of events) {
      this.events.push(event);
      if (event.groupId) this.heads.set(event.groupId, event.sequence ?? 0);
      if (event.groupId) {
        this.acceptedAt.push({ kind: event.kind, groupId: event.groupId, actor: event.actor, at: event.occurredAt });
      }
    }
    return events;
  }

  /** The code of the refusal, or `accepted`. */
  outcome(draft: CommandDraft): string {
    const decision = this.decide(draft);
    return isRefusal(decision) ? decision.code : 'accepted';
  }

  private command(draft: CommandDraft): Command {
    return {
      protocolVersion: '0.1',
      actionId: `urn:test:action:${this.nextAction++}`,
      correlationId: 'urn:test:correlation',
      issuedAt: this.now,
      ...draft,
    };
  }

  private context(prepared: Prepared<unknown>): DecisionContext {
    const documentHashes = new Map<string, string>();
    if (prepared.payload.ok) {
      for (const document of prepared.kind.documents?.(prepared.payload.value) ?? []) {
        documentHashes.set(document.path, canonicalHash(document.value));
      }
    }
    return {
      now: this.now,
      newId: this.newId,
      policy: this.policy,
      hash: canonicalHash,
      documentHashes,
      authority: { type: 'service', id: 'urn:test:service:authority' },
      headSequence: this.headOf(prepared.command.groupId ?? ''),
    };
  }

  private foldInto(view: View, command: Command, decision: Accepted, events: FoldedEvent[]): void {
    const heads = new Map(this.heads);
    for (const draft of decision.events) {
      const { erasable } = eventKindOf(draft.kind);
      const payload = commitPayload({ ...draft.payload, contentSalt: SALT }, erasable).payload;
      const event = { ...draft, actor: draft.actor ?? command.actor, occurredAt: this.now, payload: draft.payload };
      if (draft.groupId !== undefined) {
        const sequence = (heads.get(draft.groupId) ?? 0) + 1;
        heads.set(draft.groupId, sequence);
        Object.assign(event, { sequence });
      }
      evolve(view, { ...event, eventId: this.newId(), payload });
      events.push(event);
    }
  }

  private answer(reads: Read[]): LoadedReads {
    const aggregates: LoadedReads['aggregates'] = [];
    const recents: LoadedReads['recents'] = [];
    for (const read of reads) {
      if (read.read === 'recent') {
        const since = addSeconds(this.now, -read.seconds);
        const hits = this.acceptedAt.filter(
          (event) =>
            event.kind === read.eventKind &&
            event.groupId === read.groupId &&
            event.actor.id === read.actor.id &&
            event.at > since,
        );
        recents.push({ count: hits.length, ...(hits[0] && { oldest: hits[0].at }) });
        continue;
      }
      const all = this.view.all();
      const found =
        read.read === 'one'
          ? all.filter((entry) => entry.kind === read.kind && entry.id === read.id)
          : all.filter((entry) => (this.view.list(read) as unknown[]).includes(entry.document));
      aggregates.push(...found.map((entry) => ({ ...entry, version: 1 })));
    }
    return { aggregates, recents };
  }
}
