// What a run has seen, and how it is told.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FAMILIES, type Family } from './cases.ts';
import type { Options } from './options.ts';

/** A case is told in full so often; after that only counted. */
const TOLD_MAXIMUM = 25;
/** `--case` tells all of it. */
const TOLD_LENGTH = 300;
/** Megabytes, and a share: what may be alive in one slice and not in another without anything being kept. */
const MEMORY_SLACK_MEGABYTES = 16;
const MEMORY_SLACK_SHARE = 1.1;
/** Slices, of which the last third is compared with the middle one. */
const MEMORY_SLICES_MINIMUM = 30;

/** Below it, chance may leave a family out. */
const REACH_REQUESTS_MINIMUM = 5_000;
const KEPT_OUT_SHARE = 0.1;

/** Megabytes. */
export interface Memory {
  alive: number;
  resident: number;
}

const collectGarbage = exposedCollector();

export interface Slowest {
  milliseconds: number;
  family: Family;
  caseNumber: number;
}

export class Tally {
  readonly begun = performance.now();
  requests = 0;
  violations = 0;
  accepted = 0;
  reachedCryptography = 0;
  private keptOut = 0;
  private readonly byFamily = new Map<Family, number>(FAMILIES.map((family) => [family, 0]));
  private readonly byOutcome = new Map<string, number>();
  private readonly memory: Memory[] = [];
  private slowest: Slowest | undefined;
  private readonly options: Options;

  constructor(options: Options) {
    this.options = options;
  }

  get seconds(): number {
    return (performance.now() - this.begun) / 1_000;
  }

  count(family: Family, outcome: string): void {
    this.requests += 1;
    this.byFamily.set(family, (this.byFamily.get(family) ?? 0) + 1);
    this.byOutcome.set(outcome, (this.byOutcome.get(outcome) ?? 0) + 1);
    // Guesses at the operator's token are meant to be kept out.
    if (family !== 'operator' && /RATE_LIMITED|BACKPRESSURE/.test(outcome)) this.keptOut += 1;
  }

  took(slowest: Slowest): void {
    if (slowest.milliseconds > (this.slowest?.milliseconds ?? 0)) this.slowest = slowest;
  }

  violation(where: string, findings: readonly string[], sent = ''): void {
    this.violations += 1;
    if (this.violations > TOLD_MAXIMUM) return;
    console.log(`VIOLATION ${where}: ${findings.join('; ')}`);
    if (sent !== '') console.log(`  sent: ${sent.slice(0, TOLD_LENGTH)}`);
  }

  /** Now, after a collection: what is alive, and what the process holds of the machine. */
  sampleMemory(): Memory {
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    const memory = { alive: megabytes(heapUsed + external), resident: megabytes(rss) };
    this.memory.push(memory);
    return memory;
  }

  /**
   * What is alive must level off: the last third of a long run holds no more than the middle one. Resident memory says
   * less: an allocator gives back what it likes, when it likes.
   */
  checkMemory(): void {
    const third = Math.floor(this.memory.length / 3);
    if (this.memory.length < MEMORY_SLICES_MINIMUM) return;
    const alive = this.memory.map((memory) => memory.alive);
    const middle = Math.max(...alive.slice(third, 2 * third));
    const last = Math.max(...alive.slice(2 * third));
    if (last <= middle * MEMORY_SLACK_SHARE + MEMORY_SLACK_MEGABYTES) return;
    this.violation('the run', [`memory grows: ${middle} MB at most in the middle third, ${last} MB in the last`]);
  }

  /** A run that a limit or a lost token kept out of the service has tested nothing, and must say so. */
  checkReach(): void {
    if (this.requests < REACH_REQUESTS_MINIMUM || this.options.family !== undefined) return;
    const share = this.keptOut / this.requests;
    if (share > KEPT_OUT_SHARE) this.violation('the run', [`${Math.round(100 * share)} % were refused for their rate`]);
    if (this.accepted === 0) this.violation('the run', ['no changed Command was ever accepted']);
    if (this.reachedCryptography === 0) this.violation('the run', ['nothing reached a verification']);
  }

  tell(): void {
    const { engine, seed } = this.options;
    const seconds = this.seconds;
    const families = [...this.byFamily].map(([family, count]) => `${family} ${count}`).join(', ');
    console.log(`${engine}, seed ${seed}: ${seconds.toFixed(1)} s, ${Math.round(this.requests / seconds)} requests/s`);
    console.log(`families: ${families}`);
    const outcomes = [...this.byOutcome].sort(([, a], [, b]) => b - a);
    for (const [outcome, count] of outcomes) console.log(`  ${String(count).padStart(8)}  ${outcome}`);
    const before = this.requests - this.reachedCryptography;
    console.log(
      `${this.reachedCryptography} reached a verification of a signature, ${before} were answered before any`,
    );
    console.log(`${this.accepted} Commands were accepted after they were changed and signed`);
    for (const kind of ['alive', 'resident'] as const) {
      const samples = this.memory.map((memory) => memory[kind]);
      console.log(
        `memory ${kind}: ${samples[0]} MB at first, ${Math.max(...samples)} MB at most, ${samples.at(-1)} MB at last`,
      );
    }
    if (this.slowest) {
      const { milliseconds, family, caseNumber } = this.slowest;
      console.log(`slowest: ${Math.round(milliseconds)} ms, ${family}, --case ${caseNumber}`);
    }
    console.log(`${this.requests} requests, ${this.violations} violations`);
  }
}

/** Node.js shows its collector only when told so; here the telling is done for whoever starts the run. */
function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

const megabytes = (bytes: number) => Math.round(bytes / 1_048_576);
