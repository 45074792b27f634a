// Everything that one accepted Command writes, put together: rows only, no decision. The receipt is made here.
import { indexOf } from '../domain/aggregate-index.ts';
import type { Accepted, PolicyEntryDraft } from '../domain/decider.ts';
import type { View } from '../domain/view.ts';
import { isOrganizationEventKind } from '../protocol/kinds.ts';
import { canonicalHash, canonicalText } from '../wire/canonical.ts';
import { chainNext, emptyHead, logDigest } from '../wire/chain.ts';
import type {
  AdmissionRow,
  EventRow,
  PolicyLogRow,
  ReceiptRow,
  StreamAdvance,
  StreamHead,
  Transition,
} from '../store/port.ts';
import type { WithheldRow } from '../store/port/withheld.ts';
import type { Admitted } from './admission.ts';
import type { Appended, AppendedEvent, AppendContext } from './append.ts';
import type { Receipt } from './ports.ts';
import type { PreparedCommand } from './prepare.ts';

export interface TransitionParts {
  prepared: PreparedCommand;
  decision: Accepted;
  appended: Appended;
  admitted: Admitted;
  /** Marks on Events that were there before. */
  withheld: WithheldRow[];
  view: View;
  context: AppendContext;
}

export function buildTransition(parts: TransitionParts): { transition: Transition; receipt: string } {
  const { prepared, decision, appended, admitted, view, context } = parts;
  const primary = appended.events[decision.primary ?? 0];
  if (!primary) throw new Error(`${context.command.kind} appended no Event`);
  const revisionOf = (streamId: string) => (appended.streams.get(streamId)?.before?.revision ?? 0) + 1;
  const revision = revisionOf(primary.streamId);
  const receipt = receiptRow(parts, primary, revision, revisionOf);
  const admissions = admitted.appended.map((row): AdmissionRow => ({ ...row, streamId: primary.streamId, revision }));
  const policyLog = policyRows(parts, revisionOf);
  const events = appended.events.map((event) => eventRow(event, revisionOf(event.streamId), context));
  const transition: Transition = {
    acceptedAt: context.now,
    streams: streamAdvances(parts, { events, admissions, policyLog, receipt }),
    events,
    aggregates: view.changes().map((change) => ({
      ...change,
      hash: canonicalHash(change.document),
      index: indexOf(change.kind, change.document as never),
    })),
    texts: appended.texts,
    command: {
      signingHash: prepared.verified.signingHash,
      actor: context.command.actor,
      actionId: context.command.actionId,
      kind: context.command.kind,
      groupId: context.command.groupId ?? '',
      keyId: prepared.verified.keyId,
      issuedAt: context.command.issuedAt,
      body: prepared.body,
    },
    documents: documentRows(parts),
    admissions,
    receipt,
    policyLog,
    ...auditToSeal(parts),
    withheld: parts.withheld,
  };
  return { transition, receipt: receipt.body };
}

function auditToSeal({ decision, context }: TransitionParts): Pick<Transition, 'auditToSeal'> {
  if (!decision.sealsRefusals) return {};
  const { count: records, firstId, lastId } = decision.sealsRefusals;
  return { auditToSeal: { groupId: context.command.groupId ?? '', records, firstId, lastId } };
}

function eventRow(event: AppendedEvent, revision: number, { commandHash, now, signer }: AppendContext): EventRow {
  const { streamId, position, eventId, draft, actor, signingHash, chainHash, admissionRecordId, body } = event;
  return {
    streamId,
    position,
    eventId,
    kind: draft.kind,
    groupId: draft.groupId ?? '',
    aggregateRevision: draft.aggregateRevision ?? null,
    actor,
    occurredAt: now,
    commandHash,
    signingHash,
    keyId: signer.keyId,
    chainHash,
    admissionRecordId,
    trustedAcceptedAt: now,
    revision,
    body,
  };
}

function documentRows({ prepared, context, admitted }: TransitionParts): Transition['documents'] {
  const fresh = new Set(admitted.appended.map(({ signingHash }) => signingHash));
  return prepared.documents
    .filter(({ verified }) => fresh.delete(verified.signingHash))
    .map(({ verified }) => ({
      signingHash: verified.signingHash,
      documentKind: verified.kind,
      groupId: context.command.groupId ?? '',
      keyId: verified.keyId,
      principal: verified.principal,
      commandHash: context.commandHash,
      body: canonicalText(verified.document),
    }));
}

function receiptRow(
  { prepared, appended, admitted, context }: TransitionParts,
  primary: AppendedEvent,
  revision: number,
  revisionOf: (streamId: string) => number,
): ReceiptRow {
  const { command, now } = context;
  const groups = [...appended.streams].filter(([streamId]) =>
    appended.events.some(({ draft }) => draft.groupId === streamId),
  );
  const receipt: Receipt = {
    organizationId: context.organizationId,
    actor: command.actor,
    actionId: command.actionId,
    kind: command.kind,
    commandHash: context.commandHash,
    keyId: prepared.verified.keyId,
    admissionRecordId: admitted.admissionRecordId,
    acceptedAt: now,
    acceptedBy: context.authority,
    primaryEventId: primary.eventId,
    events: appended.events.map(({ eventId, draft, position, signingHash }) => ({
      eventId,
      kind: draft.kind,
      ...(draft.groupId !== undefined && { groupId: draft.groupId, sequence: position }),
      ...(draft.aggregateRevision !== undefined && { aggregateRevision: draft.aggregateRevision }),
      signingHash,
    })),
    groups: groups.map(([groupId, { position }]) => ({
      groupId,
      groupRevision: revisionOf(groupId),
      headSequence: position,
    })),
    ...(command.expectedRevision !== undefined && { expectedRevision: command.expectedRevision }),
    ...(primary.draft.aggregateRevision !== undefined && { aggregateRevision: primary.draft.aggregateRevision }),
  };
  return {
    actor: command.actor,
    actionId: command.actionId,
    signingHash: context.commandHash,
    keyId: prepared.verified.keyId,
    streamId: primary.streamId,
    revision,
    primaryEventId: primary.eventId,
    eventIds: appended.events.map(({ eventId }) => eventId),
    acceptedAt: now,
    body: canonicalText(receipt),
  };
}

function policyRows(parts: TransitionParts, revisionOf: (streamId: string) => number): PolicyLogRow[] {
  const { decision, appended, context } = parts;
  const positions = new Map<string, number>();
  return (decision.policyLog ?? []).map((entry: PolicyEntryDraft) => {
    const { groupId } = entry;
    const position = (positions.get(groupId) ?? appended.streams.get(groupId)?.before?.policyPosition ?? 0) + 1;
    positions.set(groupId, position);
    const event = appended.events[entry.draft];
    if (!event) throw new Error('a policy entry belongs to an Event of its transition');
    return {
      groupId,
      position,
      entryId: context.newId(),
      decision: entry.decision,
      actor: event.actor,
      occurredAt: context.now,
      details: canonicalText(entry.details),
      eventId: event.eventId,
      revision: revisionOf(groupId),
    };
  });
}

interface Logged {
  events: EventRow[];
  admissions: AdmissionRow[];
  policyLog: PolicyLogRow[];
  receipt: ReceiptRow;
}

function streamAdvances({ appended, context }: TransitionParts, logged: Logged): StreamAdvance[] {
  return [...appended.streams].map(([streamId, { before, position, chainHash }]): StreamAdvance => {
    const organizationOwn = appended.events.some(
      (event) => event.streamId === streamId && isOrganizationEventKind(event.draft.kind),
    );
    const previous = before ?? emptyHead(context.organizationId, streamId);
    const entries = logged.policyLog.filter(({ groupId }) => groupId === streamId).length;
    const head: StreamHead = {
      streamId,
      position,
      revision: previous.revision + 1,
      lastEventAt: context.now,
      chainHash,
      logHash: chainNext(previous.logHash, logDigest(streamId, logged)),
      policyPosition: previous.policyPosition + entries,
      // A root Group is its own root.
      rootGroupId: before?.rootGroupId ?? streamId,
    };
    return { head, expectedPosition: previous.position, streamKind: organizationOwn ? 'organization' : 'group' };
  });
}
