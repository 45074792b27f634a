// A receipt says nothing of its own: all of it follows from the Command, its admission record and the Events that it led to.
// So it is made again, and must come out as it is stored.
import type { Principal } from '../protocol/principals.ts';
import type { Command } from '../protocol/documents/command.ts';
import type { EventRow, ReceiptRow } from '../store/port.ts';
import { canonicalText } from '../wire/canonical.ts';
import { compareColumns, type Findings } from './findings.ts';
import type { RecordedCommand, RecordedTransition } from './recorded.ts';

export interface ReceiptCheck {
  organizationId: string;
  authority: Principal;
  streamId: string;
  findings: Findings;
}

/** In the stream that keeps it. */
export function checkReceipt(recorded: RecordedTransition, receipt: ReceiptRow, check: ReceiptCheck): void {
  const { findings } = check;
  const { command, revision } = recorded;
  if (!command?.read.ok) return; // told already
  const where = `receipts: of revision ${revision}`;
  const events = eventsOf(recorded, receipt);
  const primary = events.find(({ eventId }) => eventId === receipt.primaryEventId);
  const ours = events.filter(({ streamId }) => streamId === check.streamId).map(({ eventId }) => eventId);
  if (ours.join(' ') !== recorded.events.map(({ eventId }) => eventId).join(' ')) {
    findings.fault(`${where}: names other Events than there are`);
  }
  if (recorded.elsewhere && events.length !== receipt.eventIds.length) {
    findings.fault(`${where}: names Events that are not there`);
  }
  if (events.some(({ commandHash }) => commandHash !== receipt.signingHash)) {
    findings.fault(`${where}: names Events of another Command`);
  }
  if (primary?.streamId !== check.streamId) return findings.fault(`${where}: its primary Event is not in this stream`);
  const { document } = command.read;
  compareColumns(findings, where, receipt, {
    actor: document.actor,
    actionId: document.actionId,
    signingHash: command.row.signingHash,
    keyId: document.signature.keyId,
    revision,
    acceptedAt: primary.occurredAt,
  });
  if (recorded.elsewhere && receipt.body !== receiptText(recorded, command, { events, primary }, check)) {
    findings.fault(`${where}: the receipt is not what Command and Events say`);
  }
}

/** In a stream that the transition touched as well: the receipt, kept elsewhere, names these Events among others. */
export function checkForeignReceipt(recorded: RecordedTransition, receipt: ReceiptRow, findings: Findings): void {
  const named = new Set(receipt.eventIds);
  if (recorded.events.every(({ eventId }) => named.has(eventId))) return;
  findings.fault(`receipts: of revision ${recorded.revision}: its receipt in another stream does not name its Events`);
}

/** In the order of the receipt. */
function eventsOf({ events, elsewhere = [] }: RecordedTransition, { eventIds }: ReceiptRow): EventRow[] {
  const byId = new Map([...events, ...elsewhere].map((event) => [event.eventId, event]));
  return eventIds.flatMap((eventId) => byId.get(eventId) ?? []);
}

function receiptText(
  { admissions }: RecordedTransition,
  { row, read }: RecordedCommand,
  { events, primary }: { events: EventRow[]; primary: EventRow },
  { organizationId, authority }: ReceiptCheck,
): string | undefined {
  if (!read.ok) return undefined;
  const command: Command = read.document;
  const groups = new Map<string, EventRow>();
  for (const event of events) if (event.groupId !== '') groups.set(event.groupId, event);
  const aggregateRevision = primary.aggregateRevision ?? undefined;
  return canonicalText({
    organizationId,
    actor: command.actor,
    actionId: command.actionId,
    kind: command.kind,
    commandHash: row.signingHash,
    keyId: command.signature.keyId,
    admissionRecordId: admissions.get(row.signingHash)?.admissionRecordId,
    acceptedAt: primary.occurredAt,
    acceptedBy: authority,
    primaryEventId: primary.eventId,
    events: events.map((event) => ({
      eventId: event.eventId,
      kind: event.kind,
      ...(event.groupId !== '' && { groupId: event.groupId, sequence: event.position }),
      ...(event.aggregateRevision !== null && { aggregateRevision: event.aggregateRevision }),
      signingHash: event.signingHash,
    })),
    groups: [...groups].map(([groupId, last]) => ({
      groupId,
      groupRevision: last.revision,
      headSequence: last.position,
    })),
    ...(command.expectedRevision !== undefined && { expectedRevision: command.expectedRevision }),
    ...(aggregateRevision !== undefined && { aggregateRevision }),
  });
}
