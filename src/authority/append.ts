// Event drafts become signed Events, and each is folded into the view right after it is signed, so that what is stored as
// state is by construction what the Events say (design section 3).
import { randomBytes } from 'node:crypto';
import { eventKindOf } from '../domain/events/catalogue.ts';
import { evolve } from '../domain/evolve.ts';
import type { Accepted, Command, EventDraft, FoldableEvent } from '../domain/decider.ts';
import { streamOf } from '../domain/stream-names.ts';
import type { View } from '../domain/view.ts';
import type { Principal } from '../protocol/principals.ts';
import { signDocument, type Signer } from '../trust/signing.ts';
import { encodeBase64url } from '../wire/base64url.ts';
import { canonicalText } from '../wire/canonical.ts';
import { chainNext, chainStart } from '../wire/chain.ts';
import { commitPayload, holdsErasable } from '../wire/commitments.ts';
import type { StreamHead, TextRow } from '../store/port.ts';

/** Bytes of salt of an Event's text commitments: nothing can be guessed back from what stays. */
const SALT_BYTES = 16;

export interface AppendContext {
  organizationId: string;
  command: Command;
  commandHash: string;
  now: string;
  authority: Principal;
  signer: Signer;
  newId: () => string;
}

export interface AppendedEvent {
  streamId: string;
  position: number;
  eventId: string;
  draft: EventDraft;
  actor: Principal;
  signingHash: string;
  chainHash: string;
  admissionRecordId: string;
  body: string;
}

export interface Appended {
  events: AppendedEvent[];
  texts: TextRow[];
  /** Every stream that got an Event, as it was (absent: new) and as it is after it. */
  streams: Map<string, { before: StreamHead | undefined; position: number; chainHash: string }>;
}

export function appendEvents(
  { events: drafts }: Accepted,
  view: View,
  heads: ReadonlyMap<string, StreamHead>,
  context: AppendContext,
): Appended {
  const appended: Appended = { events: [], texts: [], streams: new Map() };
  for (const draft of drafts) {
    const streamId = streamOf(draft);
    const before = heads.get(streamId);
    const stream = appended.streams.get(streamId) ?? {
      before,
      position: before?.position ?? 0,
      chainHash: before?.chainHash ?? chainStart(context.organizationId, streamId),
    };
    const position = stream.position + 1;
    const eventId = context.newId();
    const { document, payload, foldable, texts } = buildEvent(draft, eventId, position, appended, context);
    const signed = signDocument('event', { ...document, payload } as never, context.signer);
    evolve(view, foldable);
    const chainHash = chainNext(stream.chainHash, signed.signingHash);
    appended.streams.set(streamId, { before, position, chainHash });
    appended.events.push({
      streamId,
      position,
      eventId,
      draft,
      actor: foldable.actor,
      signingHash: signed.signingHash,
      chainHash,
      admissionRecordId: context.newId(),
      body: signed.text,
    });
    for (const [commitment, value] of texts) {
      appended.texts.push({ commitment, eventId, groupId: draft.groupId ?? '', value: canonicalText(value) });
    }
  }
  return appended;
}

function buildEvent(
  draft: EventDraft,
  eventId: string,
  position: number,
  appended: Appended,
  { command, commandHash, now, authority }: AppendContext,
) {
  const { erasable } = eventKindOf(draft.kind);
  const payload = holdsErasable(draft.payload, erasable)
    ? { ...draft.payload, contentSalt: encodeBase64url(randomBytes(SALT_BYTES)) }
    : draft.payload;
  const actor = draft.actor ?? command.actor;
  const group = draft.groupId === undefined ? {} : groupMembers(draft, position);
  const about = {
    ...(draft.conversationId !== undefined && { conversationId: draft.conversationId }),
    ...(draft.workItemId !== undefined && { workItemId: draft.workItemId }),
  };
  const document = {
    protocolVersion: '0.1',
    eventId,
    ...group,
    kind: draft.kind,
    actor,
    cause: causeOf(draft, appended, command),
    correlationId: command.correlationId,
    ...about,
    occurredAt: now,
    acceptedBy: authority,
    commandHash,
    ...(command.extensions && { extensions: command.extensions }),
  };
  const committed = commitPayload(payload, erasable);
  const foldable: FoldableEvent = {
    eventId,
    kind: draft.kind,
    ...group,
    ...about,
    actor,
    occurredAt: now,
    payload: committed.payload,
  };
  return { document, payload, foldable, texts: committed.texts };
}

function groupMembers(draft: EventDraft, sequence: number) {
  if (draft.aggregateRevision === undefined) throw new Error(`${draft.kind} without aggregateRevision`);
  return { groupId: draft.groupId, sequence, aggregateRevision: draft.aggregateRevision };
}

function causeOf(draft: EventDraft, appended: Appended, command: Command): { type: string; id: string } {
  if (draft.causedBy === undefined) return { type: 'command', id: command.actionId };
  const cause = appended.events[draft.causedBy];
  if (!cause) throw new Error(`${draft.kind} is caused by an Event that does not come before it`);
  return { type: 'event', id: cause.eventId };
}
