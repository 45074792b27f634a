// Where an original was accepted: looked up in a store, or noticed while the transitions of a bundle pass.
import type { Reader } from '../store/port.ts';
import { chainStart } from '../wire/chain.ts';
import type { Original, Standing } from './original.ts';
import type { RecordedTransition } from './recorded.ts';

/** Undefined: nothing like it was accepted in this Organization. */
export async function storedStanding(
  { kind, document, signingHash }: Original,
  organizationId: string,
  reader: Reader,
): Promise<Standing | undefined> {
  if (kind === 'event') return standingAt(document.eventId, organizationId, reader);
  const row = await reader.command(signingHash);
  const receipt = row && (await reader.receipt({ actor: row.actor, actionId: row.actionId }));
  const standing = receipt && (await standingAt(receipt.primaryEventId, organizationId, reader));
  return standing && { ...standing, command: { row, admission: await reader.admission(signingHash) } };
}

async function standingAt(eventId: string, organizationId: string, reader: Reader): Promise<Standing | undefined> {
  const event = await reader.event(eventId);
  if (!event) return undefined;
  const { streamId, groupId, position } = event;
  const before = position === 1 ? undefined : await reader.eventAt(streamId, position - 1);
  const chainBefore = position === 1 ? chainStart(organizationId, streamId) : before?.chainHash;
  // The Organization's own streams have no Group, and nothing of them is withheld.
  if (groupId === '') return { event, chainBefore, marks: [], renditions: [] };
  const marks = await reader.withheldEvents(groupId, position, position);
  return { event, chainBefore, marks, renditions: await reader.renditionRows(groupId, position, position) };
}

export class StandingWatch {
  found: Standing | undefined;
  private readonly original: Original;
  private chainBefore: string;

  constructor(original: Original, organizationId: string, streamId: string) {
    this.original = original;
    this.chainBefore = chainStart(organizationId, streamId);
  }

  async *over(pages: AsyncIterable<RecordedTransition[]>): AsyncGenerator<RecordedTransition[]> {
    for await (const page of pages) {
      for (const transition of page) this.pass(transition);
      yield page;
    }
  }

  private pass({ events, command, admissions, receipt, withheld, renditions }: RecordedTransition): void {
    const { kind, document, signingHash } = this.original;
    const isCommand = kind === 'command' && command?.row.signingHash === signingHash;
    const wanted =
      kind === 'event' ? document.eventId : isCommand ? (receipt?.primaryEventId ?? events[0]?.eventId) : '';
    for (const event of events) {
      if (event.eventId === wanted) {
        this.found = {
          event,
          chainBefore: this.chainBefore,
          marks: withheld.filter(({ position }) => position === event.position),
          renditions: renditions.flatMap(({ row }) => (row.position === event.position ? [row] : [])),
          ...(isCommand && { command: { row: command.row, admission: admissions.get(signingHash) } }),
        };
      }
      this.chainBefore = event.chainHash;
    }
  }
}
