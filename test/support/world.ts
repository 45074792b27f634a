// A world without a database: state folded from Events, Commands decided against exactly what their kind reads.
// Specs read: given a world, when this Command, then these Events or this refusal.
import { commitPayload } from '../../src/wire/commitments.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { stateDocument, stateHash } from '../../src/wire/state-document.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { isRefusal, refuse, type Refusal } from '../../src/protocol/refusals.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { commonReads, decideCommand, preparePayload, type Prepared } from '../../src/domain/decide.ts';
import { commandKindOf } from '../../src/domain/commands/catalogue.ts';
import { eventKindOf } from '../../src/domain/events/catalogue.ts';
import { evolve } from '../../src/domain/evolve.ts';
import type { Accepted, Command, DecisionContext } from '../../src/domain/decider.ts';
import type { GroupRecord } from '../../src/domain/group-record.ts';
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

export const ORGANIZATION = 'urn:test:organization';
export const AUTHORITY = { type: 'service', id: 'urn:test:service:authority' } as const;
/** Each Event has its own, so that a text never has the same commitment twice. */
const saltOf = (groupId = '', sequence = 0): string => `a-salt-for-tests-only ${groupId} ${sequence}`;

export class World {
  readonly view = new View({ complete: true });
  readonly events: FoldedEvent[] = [];
  now = '2026-11-29T12:00:00.000Z';
  policy: Policy = structuredClone(DEFAULT_POLICY);
  /** What it was when something was signed; the same unless a spec says otherwise. */
  policyAt = (_signedAt: string): Policy => this.policy;
  /** Who signed the embedded documents; the Command's actor unless a spec says otherwise. */
  signer: Principal | undefined;
  /** By commitment; a spec erases a text by deleting it here. */
  readonly texts = new Map<string, unknown>();
  /** What stands of a Group beside its aggregates, as far as a spec says so. */
  record: Partial<GroupRecord> = {};
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

  stateHashOf(groupId: string): string {
    const own = this.view.all().filter((entry) => entry.groupId === groupId);
    const hashes = own.map(({ kind, id, document }) => ({ kind, id, hash: canonicalHash(document) }));
    return stateHash(stateDocument(ORGANIZATION, groupId, hashes));
  }

  private recordOf(groupId = ''): GroupRecord {
    const last = this.events.findLast((event) => event.groupId === groupId);
    const stateHashNow = this.stateHashOf(groupId);
    const none = { policyPosition: 0, policyLog: [], refusals: { count: 0 } };
    return { ...none, lastEventAt: last?.occurredAt ?? '', stateHash: stateHashNow, ...this.record };
  }

  /** Decides without keeping anything. */
  decide(draft: CommandDraft): Accepted | Refusal {
    const command = this.command(draft);
    const kind = commandKindOf(command.kind);
    if (!kind) throw new Error(`no such kind here: ${command.kind}`);
    const prepared = preparePayload(kind, command);
    const documentRefusal = malformedDocument(prepared);
    if (documentRefusal) prepared.documentRefusal = documentRefusal;
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
    const locked = this.lockedGroups(prepared, view);
    const decision = decideCommand(prepared, view, this.context(prepared, view));
    if (isRefusal(decision)) return decision;
    const stray = decision.events.find(({ groupId }) => groupId !== undefined && !locked.has(groupId));
    if (stray) throw new Error(`${command.kind} appends ${stray.kind} to a Group that it does not lock`);
    this.foldInto(view, command, decision, []);
    return decision;
  }

  private lockedGroups({ kind, command, payload }: Prepared<unknown>, view: View): Set<string> {
    const further = payload.ok ? (kind.moreGroups?.({ command, payload: payload.value }, view) ?? []) : [];
    return new Set([...(command.groupId === undefined ? [] : [command.groupId]), ...further]);
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

  /** An Event that no Command of this spec led to. */
  fold({ kind, groupId, payload }: Pick<FoldedEvent, 'kind' | 'groupId' | 'payload'> & { groupId: string }): void {
    const sequence = this.headOf(groupId) + 1;
    evolve(this.view, {
      eventId: this.newId(),
      kind,
      groupId,
      sequence,
      actor: AUTHORITY,
      occurredAt: this.now,
      payload,
    });
    this.heads.set(groupId, sequence);
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

  private context(prepared: Prepared<unknown>, view: View): DecisionContext {
    const { kind, command, payload } = prepared;
    const wanted = new Set(payload.ok ? (kind.texts?.({ command, payload: payload.value }, view) ?? []) : []);
    const documentHashes = new Map<string, string>();
    const documentSigners = new Map<string, Principal>();
    if (prepared.payload.ok) {
      for (const document of prepared.kind.documents?.(prepared.payload.value) ?? []) {
        documentHashes.set(document.path, canonicalHash(document.value));
        documentSigners.set(document.path, this.signer ?? prepared.command.actor);
      }
    }
    return {
      now: this.now,
      newId: this.newId,
      policy: this.policy,
      policyAt: (signedAt) => this.policyAt(signedAt),
      organizationId: ORGANIZATION,
      hash: canonicalHash,
      documentHashes,
      documentSigners,
      authority: AUTHORITY,
      headSequence: this.headOf(prepared.command.groupId ?? ''),
      ...(kind.decidesOnRecord === true && { record: this.recordOf(command.groupId) }),
      textOf: (commitment) => {
        if (!wanted.has(commitment)) throw new Error(`${command.kind} did not ask for the text of ${commitment}`);
        return this.texts.get(commitment);
      },
    };
  }

  private foldInto(view: View, command: Command, decision: Accepted, events: FoldedEvent[]): void {
    const heads = new Map(this.heads);
    for (const draft of decision.events) {
      const event: FoldedEvent = { ...draft, actor: draft.actor ?? command.actor, occurredAt: this.now };
      if (draft.groupId !== undefined) {
        event.sequence = (heads.get(draft.groupId) ?? 0) + 1;
        heads.set(draft.groupId, event.sequence);
      }
      const { payload, texts } = committed(event);
      if (view === this.view) for (const [commitment, text] of texts) this.texts.set(commitment, text);
      evolve(view, { ...event, eventId: this.newId(), payload });
      events.push(event);
    }
  }

  /** The state that these Events alone give, in a view that begins empty but for what is the Organization's own. */
  replay(events: readonly FoldedEvent[] = this.events, options: { limited?: boolean } = {}): View {
    const view = new View({ complete: true, ...options });
    for (const { kind, id, groupId, document } of this.view.all()) {
      if (groupId === '') view.set(kind, id, groupId, document);
    }
    for (const event of events) evolve(view, { ...event, eventId: this.newId(), payload: committed(event).payload });
    return view;
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

function committed({ kind, groupId, sequence, payload }: FoldedEvent) {
  const contentSalt = saltOf(groupId, sequence);
  return commitPayload({ ...payload, contentSalt }, eventKindOf(kind).erasable);
}

/** Stage 2 of the verification that the pipeline does before it decides. */
function malformedDocument({ kind, payload }: Prepared<unknown>): Refusal | undefined {
  if (!payload.ok) return undefined;
  for (const { kind: documentKind, value, path } of kind.documents?.(payload.value) ?? []) {
    const check = checkDocument(documentKind, value);
    if (!check.valid) return refuse('SCHEMA_VALIDATION_FAILED', `${path}: ${check.fault}`);
  }
  return undefined;
}
