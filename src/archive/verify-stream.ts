// One stream, transition by transition, from its first to its head: rows, signatures, both chains, receipts and the fold.
// Where the transitions come from, a store or a bundle, is not known here, and memory is bounded by a page and the state.
import type { RowCounts, StreamHead, TextRow } from '../store/port.ts';
import { chainNext, emptyHead, logDigest } from '../wire/chain.ts';
import { checkArchival, isArchival } from './check-archival.ts';
import { checkForeignReceipt, checkReceipt } from './check-receipt.ts';
import { belongsTo, checkAdmission, checkCommand, checkEmbedded, checkEvent } from './check-rows.ts';
import { judgePage, type Accepting, type JudgedTransition } from './check-signatures.ts';
import { checkErasedCommand, isErasedCommand } from './erased.ts';
import { Findings } from './findings.ts';
import { StreamFold } from './fold.ts';
import type { AnchoredHead } from './heads.ts';
import type { RecordedTransition } from './recorded.ts';
import type { Passed } from './verify-snapshots.ts';
import { WithheldWalk } from './verify-withheld.ts';

export interface StreamToVerify {
  streamId: string;
  pages: AsyncIterable<RecordedTransition[]>;
  /** That must stand in the chains. */
  anchor?: AnchoredHead;
  /** What stands beside the Events of a page: their texts. */
  checkTexts?: (texts: readonly TextRow[], findings: Findings) => Promise<void>;
  /** Told where the walk stands, after each transition. */
  passed?: (at: Passed, findings: Findings) => Promise<void>;
  progress?: (events: number) => void;
}

/** Rows that the transitions account for. */
export type Visited = Omit<RowCounts, 'streams' | 'aggregates' | 'group_snapshots' | 'segments'>;

/** Where the transitions lead: what the head must say. */
export interface VerifiedStream {
  streamId: string;
  end: Omit<StreamHead, 'rootGroupId'>;
  fold: StreamFold;
  visited: Visited;
  findings: Findings;
}

export async function verifyStream(stream: StreamToVerify, accepting: Accepting): Promise<VerifiedStream> {
  const walk = new Walk(stream, accepting);
  for await (const page of stream.pages) {
    for (const judged of await judgePage(page, accepting)) {
      walk.take(judged);
      await walk.withheld.passed(judged, walk.findings);
      await stream.passed?.(walk.at(judged.recorded), walk.findings);
    }
    await stream.checkTexts?.(walk.takeTexts(), walk.findings);
    stream.progress?.(page.reduce((events, transition) => events + transition.events.length, 0));
  }
  return walk.ended();
}

class Walk {
  readonly findings = new Findings();
  readonly withheld: WithheldWalk;
  private readonly fold = new StreamFold();
  private readonly end: VerifiedStream['end'];
  private readonly visited: Visited = NOTHING_VISITED();
  private texts: TextRow[] = [];
  private anchored: { chain: boolean; log: boolean };
  private readonly stream: StreamToVerify;
  private readonly accepting: Accepting;

  constructor(stream: StreamToVerify, accepting: Accepting) {
    this.stream = stream;
    this.accepting = accepting;
    this.withheld = new WithheldWalk(accepting);
    this.end = emptyHead(accepting.organizationId, stream.streamId);
    this.anchored = { chain: stream.anchor === undefined, log: stream.anchor === undefined };
  }

  take(judged: JudgedTransition): void {
    const { recorded } = judged;
    const expected = this.end.revision + 1;
    if (recorded.revision !== expected) this.findings.fault(`revision ${recorded.revision} where ${expected} was due`);
    const before = isArchival(recorded) ? { end: { ...this.end }, stateHash: this.stateHash() } : undefined;
    this.end.revision = recorded.revision;
    this.takeEvents(judged);
    this.takeCommand(judged);
    if (before) checkArchival(recorded, before, this.accepting, this.findings);
    this.takePolicyLog(recorded);
    this.takeLog(recorded);
  }

  private stateHash(): string | undefined {
    const { fold, accepting, stream } = this;
    return fold.whole ? fold.stateHash(accepting.organizationId, stream.streamId) : undefined;
  }

  at(recorded: RecordedTransition): Passed {
    const { end, fold } = this;
    return { ...recorded, end, fold };
  }

  /** Of the Events since it was last asked. */
  takeTexts(): TextRow[] {
    const texts = this.texts;
    this.texts = [];
    this.visited.texts += texts.length;
    return texts;
  }

  ended(): VerifiedStream {
    const { anchor } = this.stream;
    if (!this.anchored.chain) this.findings.fault(`position ${anchor?.position} is not what it was in the heads file`);
    if (!this.anchored.log) this.findings.fault(`revision ${anchor?.revision} is not what it was in the heads file`);
    const { end, fold, findings, withheld } = this;
    withheld.ended(findings);
    const visited = {
      ...this.visited,
      ...withheld.visited,
      admissions: this.visited.admissions + withheld.visited.admissions,
    };
    return { streamId: end.streamId, end, fold, visited, findings };
  }

  private takeEvents({ recorded, events }: JudgedTransition): void {
    const { findings, end } = this;
    if (recorded.events.length === 0) findings.fault(`transitions: revision ${recorded.revision} has no Event`);
    recorded.events.forEach((row, index) => {
      if (row.position !== end.position + 1)
        findings.fault(`position ${row.position} where ${end.position + 1} was due`);
      end.position = row.position;
      end.lastEventAt = row.occurredAt;
      if (chainNext(end.chainHash, row.signingHash) !== row.chainHash)
        findings.fault(`the chain breaks at ${row.position}`);
      // Goes on from what is stored, so that one wrong row is one fault.
      end.chainHash = row.chainHash;
      const { anchor } = this.stream;
      if (anchor?.position === row.position) this.anchored.chain = anchor.chainHash === row.chainHash;
      const event = checkEvent(row, recorded.revision, events[index] as JudgedTransition['events'][number], findings);
      if (event) this.foldIn(event, row.position);
      else this.fold.whole = false;
    });
    this.fold.transitionEnded();
    this.visited.events += recorded.events.length;
  }

  private foldIn(event: Parameters<StreamFold['add']>[0], position: number): void {
    if (!this.fold.whole) return;
    try {
      this.texts.push(...this.fold.add(event));
    } catch (error) {
      this.fold.whole = false;
      this.findings.fault(`the Event at ${position} cannot be folded: ${(error as Error).message}`);
    }
  }

  private takeCommand(judged: JudgedTransition): void {
    const { recorded, command } = judged;
    const { findings, visited } = this;
    const { revision, receipt } = recorded;
    if (!recorded.command) return findings.fault(`commands: that of revision ${revision} is missing`);
    const { row, embedded } = recorded.command;
    if (recorded.events.some(({ commandHash }) => commandHash !== row.signingHash)) {
      findings.fault(`revision ${revision} holds Events of different Commands`);
    }
    if (isErasedCommand(recorded.command, recorded)) checkErasedCommand(recorded.command, recorded, findings);
    else if (command) checkCommand(recorded.command, command, findings);
    const hashes = [row.signingHash, ...embedded.map(({ signingHash }) => signingHash)];
    const isHome = (row: { streamId: string; revision: number } | undefined) =>
      row?.streamId === this.stream.streamId && row.revision === revision;
    const found = hashes.flatMap((hash) => recorded.admissions.get(hash) ?? []);
    for (const admission of found) checkAdmission(admission, findings);
    const home = found.filter(isHome);
    visited.admissions += home.length;
    checkEmbedded(judged, isHome, findings);
    visited.documents += home.filter(({ signingHash }) => recorded.documents.has(signingHash)).length;
    if (!receipt) {
      // Which stream keeps it can be told by the Command's admission record, which stands with it.
      const isHere = isHome(recorded.admissions.get(row.signingHash));
      if (isHere || recorded.elsewhere) findings.fault(`receipts: that of revision ${revision} is missing`);
      return;
    }
    if (receipt.streamId !== this.stream.streamId) return checkForeignReceipt(recorded, receipt, findings);
    visited.commands += 1;
    visited.receipts += 1;
    checkReceipt(recorded, receipt, { ...this.accepting, streamId: this.stream.streamId, findings });
  }

  private takePolicyLog({ policyLog, events, revision }: RecordedTransition): void {
    const { end, findings } = this;
    for (const entry of policyLog) {
      const where = `policy_log: entry ${entry.position}`;
      if (entry.position !== end.policyPosition + 1) findings.fault(`${where} where ${end.policyPosition + 1} was due`);
      end.policyPosition = entry.position;
      if (!belongsTo(entry, events, revision)) findings.fault(`${where} belongs to no Event of revision ${revision}`);
    }
    this.visited.policy_log += policyLog.length;
  }

  private takeLog(recorded: RecordedTransition): void {
    const { end, findings, stream } = this;
    const { revision, logHash, command, admissions } = recorded;
    if (logHash === undefined) return findings.fault(`transitions: revision ${revision} is missing`);
    const hashes = command ? [command.row.signingHash, ...command.embedded.map(({ signingHash }) => signingHash)] : [];
    const digest = logDigest(stream.streamId, {
      ...recorded,
      admissions: hashes.flatMap((hash) => admissions.get(hash) ?? []).filter((row) => row.revision === revision),
    });
    if (chainNext(end.logHash, digest) !== logHash) {
      findings.fault(`the log chain breaks at revision ${revision}: something in it was changed, added or removed`);
    }
    end.logHash = logHash;
    if (stream.anchor?.revision === revision) this.anchored.log = stream.anchor.logHash === logHash;
    this.visited.transitions += 1;
  }
}

const NOTHING_VISITED = (): Visited => ({
  transitions: 0,
  events: 0,
  texts: 0,
  commands: 0,
  documents: 0,
  admissions: 0,
  receipts: 0,
  policy_log: 0,
  withheld: 0,
  renditions: 0,
});
