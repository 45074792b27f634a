// May this process be sent work: one state for each thing that it depends on. Asked once for everybody who asks at the
// same time and for a moment after, and answered in time also when a dependency says nothing.
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds that a dependency may take; orchestrators give up after 1 to 5 s, and a silent database after 35. */
const ANSWER_MAXIMUM = 2_000;
/** Milliseconds that an answer stands. */
const FRESH_MILLISECONDS = 1_000;

/** What is wrong, in sentences without addresses; empty: nothing. */
export type Probe = () => Promise<string[]>;

export type DependencyState = 'ready' | 'not_ready' | 'silent';

export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  dependencies: Record<string, DependencyState>;
  problems?: string[];
}

interface Finding {
  state: DependencyState;
  problems: string[];
}

export interface ReadinessOptions {
  answerMaximum?: number;
  freshMilliseconds?: number;
}

export class Readiness {
  private readonly dependencies: [name: string, dependency: Dependency][];
  private readonly freshMilliseconds: number;
  private report: { from: number; answer: Promise<ReadinessReport> } | undefined;

  constructor(
    probes: Record<string, Probe>,
    { answerMaximum = ANSWER_MAXIMUM, freshMilliseconds = FRESH_MILLISECONDS }: ReadinessOptions = {},
  ) {
    this.dependencies = Object.entries(probes).map(([name, probe]) => [
      name,
      new Dependency(name, probe, answerMaximum),
    ]);
    this.freshMilliseconds = freshMilliseconds;
  }

  /** Never rejects. */
  ask(): Promise<ReadinessReport> {
    const now = performance.now();
    if (this.report && now - this.report.from < this.freshMilliseconds) return this.report.answer;
    const answer = this.look();
    this.report = { from: now, answer };
    // It stands from when it was found, not from when it was asked for.
    void answer.then(() => {
      if (this.report?.answer === answer) this.report.from = performance.now();
    });
    return answer;
  }

  private async look(): Promise<ReadinessReport> {
    const findings = await Promise.all(
      this.dependencies.map(async ([name, dependency]) => [name, await dependency.find()] as const),
    );
    const problems = findings.flatMap(([, finding]) => finding.problems);
    return {
      status: problems.length === 0 ? 'ready' : 'not_ready',
      dependencies: Object.fromEntries(findings.map(([name, { state }]) => [name, state])),
      ...(problems.length > 0 && { problems }),
    };
  }
}

/** One that says nothing is asked once, however often others ask about it. */
class Dependency {
  private asking: Promise<Finding> | undefined;
  private isLate = false;
  private readonly name: string;
  private readonly late: Finding;
  private readonly probe: Probe;
  private readonly answerMaximum: number;

  constructor(name: string, probe: Probe, answerMaximum: number) {
    this.name = name;
    this.late = { state: 'silent', problems: [`${name}: no answer in time`] };
    this.probe = probe;
    this.answerMaximum = answerMaximum;
  }

  async find(): Promise<Finding> {
    if (this.isLate) return this.late;
    this.asking ??= this.run().finally(() => {
      this.asking = undefined;
      this.isLate = false;
    });
    const ended = new AbortController();
    const tooLate = delay(this.answerMaximum, 'late' as const, { signal: ended.signal }).catch(() => 'late' as const);
    const found = await Promise.race([this.asking, tooLate]);
    ended.abort();
    if (found !== 'late') return found;
    this.isLate = true;
    return this.late;
  }

  private async run(): Promise<Finding> {
    try {
      const problems = await this.probe();
      return { state: problems.length === 0 ? 'ready' : 'not_ready', problems };
    } catch {
      // The error may name addresses.
      return { state: 'not_ready', problems: [`${this.name}: no answer`] };
    }
  }
}
