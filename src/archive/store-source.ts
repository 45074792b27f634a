// The transitions of one stream out of a store's snapshot, page by page. What the rows say is taken as it is, so that the
// verifier sees every row; only what cannot be found is left out.
import type { EventRow, PolicyLogRow, Reader, TransitionRow } from '../store/port.ts';
import { readCommand, type RecordedCommand, type RecordedTransition } from './recorded.ts';

/** Events read in one go, about 3 kB each. PostgreSQL ends a snapshot that nobody asks for 7 s, and a page takes well under. */
const PAGE = 250;

export async function* storedTransitions(streamId: string, reader: Reader): AsyncGenerator<RecordedTransition[]> {
  const transitions = new Rows(
    (after) => reader.transitions(streamId, after, PAGE),
    (row: TransitionRow) => row.revision,
  );
  const events = new Rows(
    (after) => reader.events(streamId, after, PAGE),
    (row: EventRow) => row.position,
  );
  const entries = new Rows(
    (after) => reader.policyLog(streamId, after, PAGE),
    (row: PolicyLogRow) => row.position,
  );
  for (;;) {
    const page: Bare[] = [];
    for (let held = 0; held < PAGE;) {
      const next = [await transitions.first(), await events.first(), await entries.first()].flatMap((row) => row ?? []);
      if (next.length === 0) break;
      // The lowest revision comes next, whichever table names it; each round takes a row at least.
      const revision = Math.min(...next.map((row) => row.revision));
      const [transition] = await transitions.takeOne(revision);
      const bare = {
        revision,
        logHash: transition?.logHash,
        events: await events.takeAll(revision),
        policyLog: await entries.takeAll(revision),
      };
      page.push(bare);
      held += Math.max(1, bare.events.length);
    }
    if (page.length === 0) return;
    yield await withEvidence(streamId, page, reader);
  }
}

type Bare = Pick<RecordedTransition, 'revision' | 'logHash' | 'events' | 'policyLog'>;

async function withEvidence(streamId: string, page: readonly Bare[], reader: Reader): Promise<RecordedTransition[]> {
  const commandHashes = once(page.flatMap(({ events }) => events.map(({ commandHash }) => commandHash)));
  const commands = keyed((await reader.commands(commandHashes)).map(readCommand), ({ row }) => row.signingHash);
  const embedded = once([...commands.values()].flatMap((command) => command.embedded.map((one) => one.signingHash)));
  const receiptKeys = [...commands.values()].map(({ row }) => ({ actor: row.actor, actionId: row.actionId }));
  const documents = keyed(await reader.documents(embedded), (row) => row.signingHash);
  const admissions = keyed(await reader.admissions(once([...commandHashes, ...embedded])), (row) => row.signingHash);
  const receipts = keyed(await reader.receipts(receiptKeys), (row) => row.signingHash);
  const here = new Set(page.flatMap(({ events }) => events.map(({ eventId }) => eventId)));
  const others = once([...receipts.values()].flatMap(({ eventIds }) => eventIds)).filter((id) => !here.has(id));
  const elsewhere = keyed(others.length === 0 ? [] : await reader.eventsById(others), (row) => row.eventId);
  const { withheld, renditions } = await withheldOn(streamId, page, reader);
  return page.map((bare) => {
    const positions = new Set(bare.events.map(({ position }) => position));
    const command = commandOf(bare, commands);
    const receipt = command && receipts.get(command.row.signingHash);
    return {
      ...bare,
      command,
      documents,
      admissions,
      receipt,
      elsewhere: receipt?.eventIds.flatMap((id) => elsewhere.get(id) ?? []) ?? [],
      withheld: withheld.filter(({ position }) => positions.has(position)),
      renditions: renditions.filter(({ row }) => positions.has(row.position)),
    };
  });
}

async function withheldOn(
  groupId: string,
  page: readonly Bare[],
  reader: Reader,
): Promise<Pick<RecordedTransition, 'withheld' | 'renditions'>> {
  // The Organization's own streams have no Group, and nothing of them is withheld.
  const ofGroup = page.flatMap(({ events }) => events.filter((event) => event.groupId === groupId));
  const positions = ofGroup.map(({ position }) => position);
  const range = [Math.min(...positions), Math.max(...positions)] as const;
  const marked = positions.length === 0 ? [] : await reader.withheldEvents(groupId, ...range);
  if (marked.length === 0) return { withheld: [], renditions: [] };
  const rows = await reader.renditionRows(groupId, ...range);
  const admitted = await reader.admissions(rows.map(({ signingHash }) => signingHash));
  const admissions = keyed(admitted, ({ signingHash }) => signingHash);
  return {
    withheld: marked.map(({ rendition: _, ...row }) => row),
    renditions: rows.map((row) => ({ row, admission: admissions.get(row.signingHash) })),
  };
}

function commandOf({ events }: Bare, commands: ReadonlyMap<string, RecordedCommand>): RecordedCommand | undefined {
  const [first] = events;
  return first && commands.get(first.commandHash);
}

function keyed<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row> {
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function once(values: readonly string[]): string[] {
  return [...new Set(values)];
}

/** Rows of one table in order, read ahead page by page. */
class Rows<Row extends { revision: number }> {
  private waiting: Row[] = [];
  private taken = 0;
  private ended = false;
  private after = 0;
  private readonly read: (after: number) => Promise<Row[]>;
  private readonly orderOf: (row: Row) => number;

  constructor(read: (after: number) => Promise<Row[]>, orderOf: (row: Row) => number) {
    this.read = read;
    this.orderOf = orderOf;
  }

  async first(): Promise<Row | undefined> {
    if (this.taken === this.waiting.length && !this.ended) {
      this.waiting = await this.read(this.after);
      this.taken = 0;
      this.ended = this.waiting.length < PAGE;
      const last = this.waiting.at(-1);
      if (last) this.after = this.orderOf(last);
    }
    return this.waiting[this.taken];
  }

  /** The first, if it is of this revision. */
  async takeOne(revision: number): Promise<Row[]> {
    const row = await this.first();
    if (row?.revision !== revision) return [];
    this.taken += 1;
    return [row];
  }

  /** All of this revision that come next. */
  async takeAll(revision: number): Promise<Row[]> {
    const rows: Row[] = [];
    for (;;) {
      const [row] = await this.takeOne(revision);
      if (!row) return rows;
      rows.push(row);
    }
  }
}
