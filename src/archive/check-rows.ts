// Rows against what was signed: every column of an Event, a Command, an embedded document and an admission record follows
// from a body, and every body stands in its one canonical form but the Command's, which is kept as it came.
import { streamOf } from '../domain/stream-names.ts';
import type { Event } from '../protocol/documents/event.ts';
import type { JsonObject } from '../protocol/documents/json-value.ts';
import { RENDITION_EXTENSION } from '../protocol/documents/rendition.ts';
import type { AdmissionRow, EventRow, PolicyLogRow } from '../store/port.ts';
import { tryCanonicalText } from '../wire/canonical.ts';
import type { Judgement, JudgedTransition } from './check-signatures.ts';
import { standsForIn } from './erased.ts';
import { compareColumns, type Findings } from './findings.ts';
import { signingHashOf, type Embedded, type RecordedCommand } from './recorded.ts';

/** Answers the document where it was believed. */
export function checkEvent(
  row: EventRow,
  revision: number,
  judgement: Judgement,
  findings: Findings,
): Event | undefined {
  const where = `events: position ${row.position}`;
  tell(findings, `${where}: the Event`, judgement);
  const document = (judgement.ok ? judgement.verified.document : judgement.document) as Event | undefined;
  if (!document) return undefined;
  if (judgement.ok && judgement.standsIn) return checkStandIn(row, revision, document, findings);
  compareColumns(findings, where, row, {
    ...columnsOf(document, row, revision),
    occurredAt: document.occurredAt,
    signingHash: signingHashOf(document),
    keyId: document.signature.keyId,
  });
  if (!isCanonical(document, row.body)) findings.fault(`${where}: the body is not in canonical form`);
  if (Object.hasOwn(document.extensions ?? {}, RENDITION_EXTENSION)) {
    findings.fault(`${where}: a rendition in the place of its original`);
    return undefined;
  }
  return judgement.ok ? document : undefined;
}

/** The key of the original is counted by the log. */
function checkStandIn(row: EventRow, revision: number, document: Event, findings: Findings): Event | undefined {
  const where = `events: position ${row.position}`;
  const { cause, signingHash, occurredAt } = standsForIn(document) ?? {};
  if (cause !== 'erased')
    return void findings.fault(`${where}: what stands in its place is no rendition of an erased Event`);
  compareColumns(findings, where, row, { ...columnsOf(document, row, revision), occurredAt, signingHash });
  return document;
}

function columnsOf(document: Event, row: EventRow, revision: number) {
  return {
    streamId: streamNamed(document),
    revision,
    position: document.sequence ?? row.position,
    eventId: document.eventId,
    kind: document.kind,
    groupId: document.groupId ?? '',
    aggregateRevision: document.aggregateRevision ?? null,
    actor: document.actor,
    commandHash: document.commandHash,
  };
}

function streamNamed(event: Event): string {
  try {
    return streamOf(event);
  } catch {
    return '';
  }
}

export function checkCommand({ row, read, fault }: RecordedCommand, judgement: Judgement, findings: Findings): void {
  const where = `commands: ${row.signingHash}`;
  tell(findings, where, judgement);
  if (fault !== undefined) findings.fault(`${where}: ${fault}`);
  if (!read.ok) return;
  const { document } = read;
  compareColumns(findings, where, row, {
    signingHash: signingHashOf(document),
    actor: document.actor,
    actionId: document.actionId,
    kind: document.kind,
    groupId: document.groupId ?? '',
    keyId: document.signature.keyId,
    issuedAt: document.issuedAt,
  });
}

/**
 * The documents of a Command; `isHome`: admission records that this transition wrote. One that was admitted earlier has its
 * row, with the Command and the signature that it first came with, where that was.
 */
export function checkEmbedded(
  { recorded, embedded }: JudgedTransition,
  isHome: (row: AdmissionRow | undefined) => boolean,
  findings: Findings,
): void {
  const { command, documents, admissions } = recorded;
  for (const document of command?.embedded ?? []) {
    const { signingHash } = document;
    const where = `documents: ${signingHash}`;
    const judgement = embedded.get(signingHash) as Judgement;
    tell(findings, where, judgement);
    // Taken here before it was brought: its row is among the snapshots, and is looked at there.
    if (document.kind === 'group-snapshot') continue;
    const row = documents.get(signingHash);
    if (!row) findings.fault(`${where}: the row is missing`);
    else {
      const first = isHome(admissions.get(signingHash)) ? firstColumns(document, command) : {};
      compareColumns(findings, where, row, { ...documentColumns(document, judgement), ...first });
      if (hashOfText(row.body) !== signingHash) findings.fault(`${where}: the body is not what was signed`);
    }
  }
}

function documentColumns({ kind, signingHash }: Embedded, judgement: Judgement) {
  if (!judgement.ok) return { signingHash, documentKind: kind };
  const { keyId, principal } = judgement.verified;
  return { signingHash, documentKind: kind, keyId, principal };
}

function firstColumns({ value }: Embedded, command: RecordedCommand | undefined) {
  const form = tryCanonicalText(value);
  return {
    groupId: (command?.read.ok && command.read.document.groupId) || '',
    commandHash: command?.row.signingHash,
    body: form.ok ? form.text : undefined,
  };
}

function hashOfText(body: string): string | undefined {
  try {
    return signingHashOf(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** The columns against the nine-member record that they spell out; the record itself was judged with its document. */
export function checkAdmission(row: AdmissionRow, findings: Findings): void {
  const where = `admissions: ${row.signingHash}`;
  let record: JsonObject;
  try {
    record = JSON.parse(row.record) as JsonObject;
  } catch {
    return findings.fault(`${where}: the record is no JSON`);
  }
  const { protocolVersion: _version, organizationId: _organization, ...columns } = record;
  compareColumns(findings, where, row, columns);
  if (!isCanonical(record, row.record)) findings.fault(`${where}: the record is not in canonical form`);
}

/** An entry of the policy log and the Events of its transition. */
export function belongsTo(entry: PolicyLogRow, events: readonly EventRow[], revision: number): boolean {
  const event = events.find(({ eventId }) => eventId === entry.eventId);
  return event !== undefined && entry.revision === revision && event.occurredAt === entry.occurredAt;
}

function tell(findings: Findings, what: string, judgement: Judgement): void {
  if (!judgement.ok) return findings.fault(`${what}: ${judgement.reason}`);
  if (!judgement.revokedLater) return;
  findings.note(`${judgement.verified.keyId} was revoked later; what it signed before that stands`);
}

function isCanonical(document: object, body: string): boolean {
  const form = tryCanonicalText(document);
  return form.ok && form.text === body;
}
