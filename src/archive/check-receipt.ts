// A receipt says nothing of its own: all of it follows from the Command, its admission record and the Events that it led to.
// So it is made again, and must come out as it is stored.
import type { Principal } from '../protocol/principals.ts';
import type { EventRow, ReceiptRow } from '../store/port.ts';
import { canonicalText } from '../wire/canonical.ts';
import { isErasedCommand } from './erased.ts';
import { compareColumns, type Findings } from './findings.ts';
import type { RecordedTransition } from './recorded.ts';

export interface ReceiptCheck {
  organizationId: string;
  authority: Principal;
  streamId: string;
  findings: Findings;
}

/** In the stream that keeps it. */
export function checkReceipt(recorded: RecordedTransition, receipt: ReceiptRow, check: ReceiptCheck): void {
  const { findings } = check;
  const { revision } = recorded;
  const command = commandSaid(recorded, receipt);
  if (!command) return; // told already
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
  compareColumns(findings, where, receipt, {
    actor: command.actor,
    actionId: command.actionId,
    signingHash: command.signingHash,
    keyId: command.keyId,
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

/** What a receipt repeats of its Command. */
interface SaidByCommand {
  signingHash: string;
  actor: Principal;
  actionId: string;
  kind: string;
  keyId: string;
  expectedRevision?: number | undefined;
}

/** Of an erased one: what its row says, and the revision that nothing but the receipt, which the log counts, still tells. */
function commandSaid(recorded: RecordedTransition, receipt: ReceiptRow): SaidByCommand | undefined {
  const { command } = recorded;
  if (!command) return undefined;
  const { row, read } = command;
  const { signingHash } = row;
  if (read.ok) {
    const { actor, actionId, kind, expectedRevision, signature } = read.document;
    return { signingHash, actor, actionId, kind, keyId: signature.keyId, expectedRevision };
  }
  if (!isErasedCommand(command, recorded)) return undefined;
  const { actor, actionId, kind, keyId } = row;
  return { signingHash, actor, actionId, kind, keyId, expectedRevision: statedRevision(receipt) };
}

function statedRevision({ body }: ReceiptRow): number | undefined {
  try {
    return (JSON.parse(body) as { expectedRevision?: number } | null)?.expectedRevision;
  } catch {
    return undefined;
  }
}

function receiptText(
  { admissions }: RecordedTransition,
  command: SaidByCommand,
  { events, primary }: { events: EventRow[]; primary: EventRow },
  { organizationId, authority }: ReceiptCheck,
): string {
  const groups = new Map<string, EventRow>();
  for (const event of events) if (event.groupId !== '') groups.set(event.groupId, event);
  const aggregateRevision = primary.aggregateRevision ?? undefined;
  return canonicalText({
    organizationId,
    actor: command.actor,
    actionId: command.actionId,
    kind: command.kind,
    commandHash: command.signingHash,
    keyId: command.keyId,
    admissionRecordId: admissions.get(command.signingHash)?.admissionRecordId,
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
