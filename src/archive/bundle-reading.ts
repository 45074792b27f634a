// A bundle as it comes, chunk by chunk: lines with their number and the hash of all before them, and the transitions that
// they make up. Everything is bounded, because a stranger may have written it.
import { createHash } from 'node:crypto';
import { splitLines } from '../wire/lines.ts';
import {
  BUNDLE_FORMAT,
  BundleFault,
  FORMAT_WITHOUT_SNAPSHOTS,
  readLine,
  type BundleLine,
  type HeaderLine,
  type StatementLine,
} from './bundle-lines.ts';
import { readCommand, type RecordedTransition } from './recorded.ts';
import type { RecordedSnapshot } from './snapshot/recorded.ts';

/** An Event of 3 MB, with every character of it escaped. */
const LINE_MAXIMUM = 16_777_216;
/** The cancellation of a Mission with all its WorkItems, three times over. */
const TRANSITION_LINES_MAXIMUM = 20_000;
const TRANSITION_BYTES_MAXIMUM = 268_435_456;
/** Events of a page, whose signatures are verified side by side. */
const PAGE = 250;
/** A snapshot may have some MB: five fill a page. */
const SNAPSHOT_WEIGHT = 50;

export class BundleReading {
  private readonly lines: AsyncGenerator<Uint8Array>;
  private readonly hash = createHash('sha256');
  private count = 0;
  /** By the format that the header names. */
  hasSnapshots = true;
  private waiting: { line: BundleLine; bytes: Uint8Array } | undefined;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.lines = splitLines(chunks, LINE_MAXIMUM, (sentence) => new BundleFault(sentence));
  }

  async header(): Promise<HeaderLine> {
    const line = await this.take();
    if (line?.line !== 'header') throw new BundleFault('line 1: not the header of a bundle');
    this.hasSnapshots = line.format !== FORMAT_WITHOUT_SNAPSHOTS;
    if (this.hasSnapshots && line.format !== BUNDLE_FORMAT)
      throw new BundleFault(`line 1: format ${line.format} is not known here`);
    return line;
  }

  /** The next line, if it is of this kind. */
  async takeIf<Kind extends BundleLine['line']>(kind: Kind): Promise<Extract<BundleLine, { line: Kind }> | undefined> {
    const next = await this.peek();
    if (next?.line.line !== kind) return undefined;
    return (await this.take()) as Extract<BundleLine, { line: Kind }>;
  }

  async *transitions(): AsyncGenerator<RecordedTransition[]> {
    for (;;) {
      const page: RecordedTransition[] = [];
      for (let held = 0; held < PAGE;) {
        const transition = await this.transition();
        if (!transition) break;
        page.push(transition);
        held += Math.max(1, transition.events.length) + (transition.snapshots?.length ?? 0) * SNAPSHOT_WEIGHT;
      }
      if (page.length === 0) return;
      yield page;
    }
  }

  /** After all transitions. What it must say of the bytes before it comes with it. */
  async statement(): Promise<{ statement: StatementLine; lines: number; sha256: string }> {
    const [lines, sha256] = [this.count, this.hash.copy().digest('hex')];
    const line = await this.take();
    if (!line) throw new BundleFault(`cut off: the file ends after line ${lines}, without the authority's statement`);
    if (line.line !== 'statement') throw new BundleFault(`line ${this.count}: a ${line.line} line where none belongs`);
    if (await this.peek()) throw new BundleFault(`line ${this.count + 1}: more after the statement`);
    return { statement: line, lines, sha256 };
  }

  private async transition(): Promise<RecordedTransition | undefined> {
    const begun = await this.takeIf('transition');
    if (!begun) return undefined;
    const rows = new TransitionLines();
    for (let bytes = 0, lines = 0; ;) {
      const next = await this.peek();
      if (!next || ['header', 'key', 'transition', 'statement'].includes(next.line.line)) break;
      bytes += next.bytes.length;
      lines += 1;
      if (lines > TRANSITION_LINES_MAXIMUM || bytes > TRANSITION_BYTES_MAXIMUM) {
        throw new BundleFault(`line ${this.count}: revision ${begun.revision} is larger than any transition`);
      }
      const taken = await this.take();
      if (!this.hasSnapshots && (taken?.line === 'snapshot' || taken?.line === 'segment'))
        throw new BundleFault(`line ${this.count}: a ${taken.line} line in a format that has none`);
      if (taken) rows.add(taken, this.count);
    }
    return rows.recorded(begun.revision, begun.logHash);
  }

  private async peek(): Promise<{ line: BundleLine; bytes: Uint8Array } | undefined> {
    if (this.waiting) return this.waiting;
    const next = await this.lines.next();
    if (next.done) return undefined;
    const bytes = next.value;
    this.waiting = { line: readLine(bytes, this.count + 1, LINE_MAXIMUM), bytes };
    return this.waiting;
  }

  private async take(): Promise<BundleLine | undefined> {
    const next = await this.peek();
    if (!next) return undefined;
    this.waiting = undefined;
    this.count += 1;
    this.hash.update(next.bytes).update('\n');
    return next.line;
  }
}

class TransitionLines {
  private readonly events: RecordedTransition['events'] = [];
  private readonly policyLog: RecordedTransition['policyLog'] = [];
  private readonly documents = new Map<string, Extract<BundleLine, { line: 'document' }>['row']>();
  private readonly admissions = new Map<string, Extract<BundleLine, { line: 'admission' }>['row']>();
  private command: RecordedTransition['command'];
  private receipt: RecordedTransition['receipt'];
  private readonly withheld: RecordedTransition['withheld'] = [];
  private readonly renditions: RecordedTransition['renditions'] = [];
  private readonly snapshots: RecordedSnapshot[] = [];
  private sealedThrough: number | undefined;

  add(line: BundleLine, number: number): void {
    if (line.line === 'event') this.events.push(line.row);
    else if (line.line === 'policy') this.policyLog.push(line.row);
    else if (line.line === 'withheld') this.withheld.push(line.row);
    else if (line.line === 'rendition') this.renditions.push({ row: line.row, admission: line.admission });
    else if (line.line === 'snapshot') this.snapshots.push({ row: line.row, admission: line.admission });
    else if (line.line === 'segment' && this.sealedThrough === undefined) this.sealedThrough = line.lastSequence;
    else if (line.line === 'document') this.keep(this.documents, line.row, number);
    else if (line.line === 'admission') this.keep(this.admissions, line.row, number);
    else if (line.line === 'command' && !this.command) this.command = readCommand(line.row);
    else if (line.line === 'receipt' && !this.receipt) this.receipt = line.row;
    else throw new BundleFault(`line ${number}: a second ${line.line} in one transition`);
  }

  recorded(revision: number, logHash: string): RecordedTransition {
    const { events, policyLog, documents, admissions, command, receipt, withheld, renditions } = this;
    const { snapshots, sealedThrough } = this;
    const here = new Set(events.map(({ eventId }) => eventId));
    // Events in other Groups are not in the bundle, and then the receipt cannot be made again.
    const isWhole = receipt?.eventIds.every((eventId) => here.has(eventId)) ?? false;
    const elsewhere = isWhole ? [] : undefined;
    return {
      revision,
      logHash,
      events,
      policyLog,
      documents,
      admissions,
      command,
      receipt,
      elsewhere,
      withheld,
      renditions,
      snapshots,
      ...(sealedThrough !== undefined && { sealedThrough }),
    };
  }

  private keep<Row extends { signingHash: string }>(rows: Map<string, Row>, row: Row, number: number): void {
    if (rows.has(row.signingHash)) throw new BundleFault(`line ${number}: a document or its record stands there twice`);
    rows.set(row.signingHash, row);
  }
}
