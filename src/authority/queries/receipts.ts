// A receipt of the caller's own Command, and the Events that it names.
import type { Principal } from '../../protocol/principals.ts';
import type { EventRow, Reader } from '../../store/port.ts';

export interface FoundReceipt {
  /** The receipt document: canonical JSON text. */
  body: string;
  /** All Events of the transition, in order, whoever may see them. */
  events: EventRow[];
}

export async function receiptOf(reader: Reader, actor: Principal, actionId: string): Promise<FoundReceipt | undefined> {
  const receipt = await reader.receipt({ actor, actionId });
  if (!receipt) return undefined;
  const rows = await reader.eventsById(receipt.eventIds);
  const byId = new Map(rows.map((row) => [row.eventId, row]));
  return { body: receipt.body, events: receipt.eventIds.flatMap((eventId) => byId.get(eventId) ?? []) };
}
