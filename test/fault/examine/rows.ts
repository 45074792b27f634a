// No transition is half there: what came since the last look, row by row and past the store. Positions and revisions have no
// gap, both chains come out as stored, and each Event has its Command, receipt, admission records, texts and documents.
// The rows that were accounted for are counted, so that one which belongs to no transition is found as well.
import { eventKindOf } from '../../../src/domain/events/catalogue.ts';
import type { AdmissionRow, EventRow, PolicyLogRow, ReceiptRow } from '../../../src/store/port.ts';
import { admissionFromRecord, policyLogFromRecord, receiptFromRecord } from '../../../src/store/evidence-records.ts';
import type {
  AdmissionRecord,
  CommandRecord,
  PolicyLogRecord,
  ReceiptRecord,
} from '../../../src/store/evidence-records.ts';
import { eventFromRecord, type EventRecord, type HeadRecord } from '../../../src/store/stream-records.ts';
import { addSeconds } from '../../../src/protocol/timestamps.ts';
import { chainNext, chainStart, logDigest } from '../../../src/wire/chain.ts';
import { commitPayload } from '../../../src/wire/commitments.ts';
import type { Behind } from '../../contract/behind.ts';
import { digest } from '../ledger.ts';
import type { Look } from '../ground.ts';
import { commandsWithBodies, eventsWithBodies, isAsSigned } from './bodies.ts';
import { countBy, quote, rowsIn, rowsOf } from './sql.ts';

/** Longer than an acceptance waits for a lock. */
const WAIT_MAXIMUM_SECONDS = 60;

interface Seen {
  position: number;
  revision: number;
  policyPosition: number;
  chainHash: string;
  logHash: string;
}

interface Moved {
  head: HeadRecord;
  seen: Seen;
  events: EventRow[];
  transitions: { revision: number; log_hash: string }[];
  policyLog: PolicyLogRow[];
}

export const COUNTED = [
  'streams',
  'events',
  'transitions',
  'commands',
  'receipts',
  'admissions',
  'texts',
  'documents',
  'policy_log',
  'withheld',
  'renditions',
];
export type Counts = Record<string, number>;

/** Of one Organization. */
export class Rows {
  private readonly organizationId: string;
  private readonly streams = new Map<string, Seen>();
  /** Of the Events' bodies as they were first seen, by Event. */
  readonly bodies = new Map<string, string>();
  private readonly counts: Counts = Object.fromEntries(COUNTED.map((table) => [table, 0]));

  constructor(organizationId: string) {
    this.organizationId = organizationId;
  }

  get transitions(): number {
    return this.counts['commands'] ?? 0;
  }

  /**
   * Sentences; none when all is well. While it looks, nothing may be written. `heads` are all of this Organization, `counts`
   * its rows by table.
   */
  async examine(look: Look, heads: readonly HeadRecord[], counts: Counts): Promise<string[]> {
    const faults: string[] = [];
    const moved = await this.moved(look, heads);
    const evidence = await this.evidenceOf(look, moved);
    for (const stream of moved) faults.push(...examineStream(stream, evidence), ...examineBodies(stream));
    faults.push(...(await this.examineCommands(look.behind, moved, evidence)));
    for (const { head, events, transitions, policyLog } of moved) {
      if (!this.streams.has(head.stream_id)) this.add('streams', 1);
      this.streams.set(head.stream_id, seenAt(head));
      for (const { eventId, body } of events) this.bodies.set(eventId, digest(body));
      this.add('events', events.length);
      this.add('transitions', transitions.length);
      this.add('policy_log', policyLog.length);
    }
    return [...faults, ...this.examineCounts(counts)];
  }

  private async moved(look: Look, heads: readonly HeadRecord[]): Promise<Moved[]> {
    const mine = `organization_id = ${quote(this.organizationId)}`;
    const moved: Moved[] = [];
    const { behind } = look;
    for (const head of heads) {
      const seen = this.streams.get(head.stream_id) ?? unseen(this.organizationId, head.stream_id);
      if (seen.revision === head.revision && seen.position === head.position) continue;
      const of = `${mine} AND stream_id = ${quote(head.stream_id)}`;
      const [events, transitions, policyLog] = await Promise.all([
        rowsOf<EventRecord>(
          behind,
          `SELECT * FROM {events} WHERE ${of} AND position > ${seen.position} ORDER BY position`,
        ),
        rowsOf<{ revision: number; log_hash: string }>(
          behind,
          `SELECT revision, log_hash FROM {transitions} WHERE ${of} AND revision > ${seen.revision} ORDER BY revision`,
        ),
        rowsOf<PolicyLogRecord>(
          behind,
          `SELECT * FROM {policy_log} WHERE ${mine} AND group_id = ${quote(head.stream_id)}
           AND position > ${seen.policyPosition} ORDER BY position`,
        ),
      ]);
      const whole = await eventsWithBodies(look, this.organizationId, events.map(eventFromRecord));
      const rows = { events: whole, policyLog: policyLog.map(policyLogFromRecord) };
      moved.push({ head, seen, transitions, ...rows });
    }
    return moved;
  }

  private async evidenceOf(look: Look, moved: readonly Moved[]): Promise<Evidence> {
    const mine = `organization_id = ${quote(this.organizationId)}`;
    const events = moved.flatMap((stream) => stream.events);
    const hashes = [...new Set(events.map(({ commandHash }) => quote(commandHash)))];
    const { behind } = look;
    const records = await rowsIn<CommandRecord>(
      behind,
      `SELECT * FROM {commands} WHERE ${mine} AND signing_hash IN $list`,
      hashes,
    );
    const commands = await commandsWithBodies(look, this.organizationId, records);
    const keys = commands.map((row) => `(${[row.actor_type, row.actor_id, row.action_id].map(quote).join(', ')})`);
    const receipts = await rowsIn<ReceiptRecord>(
      behind,
      `SELECT * FROM {receipts} WHERE ${mine} AND (actor_type, actor_id, action_id) IN $list`,
      keys,
    );
    const [first] = events.map(({ trustedAcceptedAt }) => trustedAcceptedAt).sort();
    // An acceptance that waited for further Groups has Events as late as theirs, and was admitted before it waited.
    const since = first === undefined ? [] : [quote(addSeconds(first, -WAIT_MAXIMUM_SECONDS))];
    const admissions = since.length
      ? await rowsOf<AdmissionRecord>(
          behind,
          `SELECT * FROM {admissions} WHERE ${mine} AND trusted_accepted_at >= ${since[0]}`,
        )
      : [];
    const isNew = new Set(
      moved.flatMap(({ head, transitions }) => transitions.map(({ revision }) => at(head.stream_id, revision))),
    );
    return {
      commands: new Map(commands.map((row) => [row.signing_hash, row])),
      receipts: countBy(receipts.map(receiptFromRecord), ({ signingHash }) => signingHash),
      admissions: admissions.map(admissionFromRecord).filter((row) => isNew.has(at(row.streamId, row.revision))),
    };
  }

  private async examineCommands(behind: Behind, moved: readonly Moved[], evidence: Evidence): Promise<string[]> {
    const faults: string[] = [];
    const mine = `organization_id = ${quote(this.organizationId)}`;
    const events = moved.flatMap((stream) => stream.events);
    for (const [hash, ofCommand] of countBy(events, ({ commandHash }) => commandHash)) {
      faults.push(...examineCommand(hash, ofCommand, evidence));
      this.add('commands', 1);
      this.add('receipts', 1);
    }
    const ids = events.map(({ eventId }) => quote(eventId));
    const texts = await rowsIn<{ event_id: string; commitment: string; value: string }>(
      behind,
      `SELECT event_id, commitment, value FROM {texts} WHERE ${mine} AND event_id IN $list`,
      ids,
    );
    faults.push(
      ...examineTexts(
        events,
        countBy(texts, (row) => row.event_id),
      ),
    );
    const brought = evidence.admissions.filter(({ documentKind }) => documentKind !== 'command');
    const documents = await rowsIn<{ signing_hash: string }>(
      behind,
      `SELECT signing_hash FROM {documents} WHERE ${mine} AND signing_hash IN $list`,
      brought.map(({ signingHash }) => quote(signingHash)),
    );
    if (documents.length !== brought.length)
      faults.push(`${brought.length} documents admitted, ${documents.length} stored`);
    const redactions = events.filter(({ kind }) => kind === 'message.redacted').map(({ eventId }) => eventId);
    const marks = await rowsIn<{ ordered_by: string }>(
      behind,
      `SELECT ordered_by FROM {withheld} WHERE ${mine} AND ordered_by IN $list`,
      redactions.map(quote),
    );
    const marked = countBy(marks, ({ ordered_by }) => ordered_by);
    // The Message and its one correction.
    for (const eventId of redactions)
      if (marked.get(eventId)?.length !== 2)
        faults.push(`${eventId}: ${marked.get(eventId)?.length ?? 0} marks, not 2`);
    this.add('withheld', marks.length);
    this.add('texts', texts.length);
    this.add('documents', documents.length);
    this.add('admissions', evidence.admissions.length);
    return faults;
  }

  private examineCounts(counts: Counts): string[] {
    // Made after the commit, or not yet; each with its admission record.
    const { renditions = 0, withheld = 0 } = counts;
    const expected: Counts = { ...this.counts, renditions, admissions: (this.counts['admissions'] ?? 0) + renditions };
    const tooMany = renditions > withheld ? [`renditions: ${renditions} rows of ${withheld} marked Events`] : [];
    const differing = COUNTED.filter((table) => (counts[table] ?? 0) !== expected[table]).map(
      (table) => `${table}: ${counts[table] ?? 0} rows, ${expected[table] ?? 0} belong to transitions`,
    );
    return [...tooMany, ...differing];
  }

  private add(table: string, rows: number): void {
    this.counts[table] = (this.counts[table] ?? 0) + rows;
  }
}

interface Evidence {
  commands: Map<string, CommandRecord>;
  receipts: Map<string, ReceiptRow[]>;
  admissions: AdmissionRow[];
}

function examineStream(moved: Moved, evidence: Evidence): string[] {
  const { head, seen, events, transitions, policyLog } = moved;
  const faults: string[] = [];
  const fault = (what: string) => faults.push(`${head.stream_id}: ${what}`);
  let { chainHash, logHash } = seen;
  events.forEach((event, index) => {
    if (event.position !== seen.position + index + 1)
      fault(`position ${event.position} after ${seen.position + index}`);
    chainHash = chainNext(chainHash, event.signingHash);
    if (event.chainHash !== chainHash) fault(`the chain breaks at ${event.position}`);
  });
  if (head.position !== seen.position + events.length) fault(`the head says ${head.position}`);
  if (head.chain_hash !== chainHash) fault('the head does not end the chain');
  const receipts = [...evidence.receipts.values()].flat();
  transitions.forEach(({ revision, log_hash }, index) => {
    if (revision !== seen.revision + index + 1) fault(`revision ${revision} after ${seen.revision + index}`);
    const ofRevision = {
      events: events.filter((event) => event.revision === revision),
      admissions: evidence.admissions.filter((row) => row.streamId === head.stream_id && row.revision === revision),
      policyLog: policyLog.filter((row) => row.revision === revision),
    };
    const [event] = ofRevision.events;
    if (!event) return fault(`revision ${revision} has no Event`);
    const receipt = receipts.find(({ signingHash }) => signingHash === event.commandHash);
    if (!receipt) return fault(`revision ${revision} has no receipt`);
    const digests = orders(ofRevision.admissions, event.commandHash).map((admissions) =>
      logDigest(head.stream_id, { ...ofRevision, admissions, receipt }),
    );
    const links = digests.map((linked) => chainNext(logHash, linked));
    logHash = links.find((link) => link === log_hash) ?? (links[0] as string);
    if (log_hash !== logHash) fault(`the log chain breaks at revision ${revision}`);
  });
  if (head.revision !== seen.revision + transitions.length) fault(`the head says revision ${head.revision}`);
  if (head.log_hash !== logHash) fault('the head does not end the log chain');
  policyLog.forEach(({ position }, index) => {
    if (position !== seen.policyPosition + index + 1)
      fault(`policy entry ${position} after ${seen.policyPosition + index}`);
  });
  if (head.policy_position !== seen.policyPosition + policyLog.length) fault('policy entries are missing');
  return faults;
}

/** Also of those that were sealed before anybody looked. */
function examineBodies({ head, events }: Moved): string[] {
  return events
    .filter(({ body, signingHash }) => !isAsSigned(body, signingHash))
    .map(({ position }) => `${head.stream_id}: the body of Event ${position} is not what was signed`);
}

/** The Command's own record comes first; in which order its documents stood, no column says. */
function orders(admissions: readonly AdmissionRow[], commandHash: string): AdmissionRow[][] {
  const own = admissions.filter(({ signingHash }) => signingHash === commandHash);
  const others = admissions.filter(({ signingHash }) => signingHash !== commandHash);
  return permutations(others).map((order) => [...own, ...order]);
}

/** Of the few documents in one Command. */
function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

function examineCommand(hash: string, events: readonly EventRow[], evidence: Evidence): string[] {
  const command = evidence.commands.get(hash);
  if (!command?.body) return [`${hash}: Events without a Command`];
  const of = `${command.kind} ${command.action_id}`;
  const [receipt, ...more] = evidence.receipts.get(hash) ?? [];
  if (!receipt || more.length > 0) return [`${of}: ${receipt ? more.length + 1 : 0} receipts`];
  const faults: string[] = [];
  const stored = events.map(({ eventId }) => eventId).sort();
  if (stored.join() !== [...receipt.eventIds].sort().join()) faults.push(`${of}: its receipt names other Events`);
  if (!stored.includes(receipt.primaryEventId)) faults.push(`${of}: the primary Event is not there`);
  const isAdmitted = evidence.admissions.some(
    (row) => row.signingHash === hash && row.streamId === receipt.streamId && row.revision === receipt.revision,
  );
  if (!isAdmitted) faults.push(`${of}: no First-Admission Record`);
  return faults;
}

function examineTexts(
  events: readonly EventRow[],
  stored: Map<string, { commitment: string; value: string }[]>,
): string[] {
  const faults: string[] = [];
  for (const event of events) {
    if (event.body === '') continue;
    const { payload } = JSON.parse(event.body) as { payload: Record<string, unknown> };
    const committed = [...commitPayload(payload, eventKindOf(event.kind).erasable).texts.keys()].sort();
    const there = (stored.get(event.eventId) ?? []).map(({ commitment }) => commitment).sort();
    if (committed.join() !== there.join())
      faults.push(`${event.kind} ${event.eventId}: its texts are not what it commits to`);
  }
  return faults;
}

function unseen(organizationId: string, streamId: string): Seen {
  const start = chainStart(organizationId, streamId);
  return { position: 0, revision: 0, policyPosition: 0, chainHash: start, logHash: start };
}

function seenAt(head: HeadRecord): Seen {
  const { position, revision, policy_position: policyPosition, chain_hash: chainHash, log_hash: logHash } = head;
  return { position, revision, policyPosition, chainHash, logHash };
}

function at(streamId: string, revision: number): string {
  return `${revision} ${streamId}`;
}
