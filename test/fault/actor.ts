// One actor: its key, its token, what it is, and its way of sending: sign once, write it down, send the same bytes until
// there is an answer.
import { canonicalText } from '../../src/wire/canonical.ts';
import type { Accepted } from '../../src/worker/answers.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { exchange } from '../../src/worker/exchange.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { adviceFor, describeProblem, type Problem } from '../../src/worker/outcome.ts';
import type { Entry, Fate } from './ledger.ts';
import type { Stage } from './stage.ts';

/** Milliseconds after an answer that said nothing, while the service is up: a database that is gone answers at once. */
const PAUSE_MS = 50;
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

export class Actor {
  readonly key: ActorKey;
  readonly slug: string;
  sessionEpoch: number | undefined;
  private readonly stage: Stage;
  private token: string | undefined;

  constructor(stage: Stage, slug: string, key: ActorKey) {
    this.stage = stage;
    this.slug = slug;
    this.key = key;
  }

  get id(): string {
    return this.key.principal.id;
  }

  /** Outside the load: throws when it is refused. */
  async arrive(): Promise<void> {
    const problem = await this.logIn(this.key.principal.type === 'agent');
    if (problem) throw new Error(`${this.id} cannot log in: ${describeProblem(problem)}`);
  }

  /** Under load: until it is answered, for another session every time that it is tried. */
  async openSession(): Promise<void> {
    for (;;) {
      const problem = await this.stage.gate.through(() => this.logIn(true));
      if (!problem) return;
      if (adviceFor(problem).next !== 'resend') throw new Error(`no session: ${describeProblem(problem)}`);
      await pause();
    }
  }

  /** The answer, or undefined when it is refused. */
  async submit(draft: CommandDraft, epochs: Epochs = {}): Promise<Accepted | undefined> {
    const entry = this.stage.ledger.sign(this, signCommand(this.key, draft, { ...this.epochs(), ...epochs }));
    for (;;) {
      const accepted = await this.stage.gate.through(() => this.attempt(entry));
      if (accepted) return accepted;
      if (isRefused(entry)) return undefined;
      await pause();
    }
  }

  epochs(): Epochs {
    if (this.key.principal.type === 'service') return {};
    return { membershipEpoch: 1, ...(this.sessionEpoch !== undefined && { sessionEpoch: this.sessionEpoch }) };
  }

  /** One sending of the same bytes. Settles the entry, unless the examination has done so while the service was away. */
  private async attempt(entry: Entry): Promise<Accepted | undefined> {
    if (isRefused(entry)) return undefined;
    const known = entry.fate;
    const { fate, accepted } = await this.send(entry);
    if (fate.fate === 'unanswered') return undefined;
    if (known.fate === 'unanswered') this.stage.ledger.settle(entry, fate);
    else if (!isSameReceipt(known, fate)) throw new Error(`${entry.command.kind} was answered twice, and not the same`);
    return accepted;
  }

  /** One sending, and what it said; the entry only counts it. */
  async send(entry: Entry): Promise<{ fate: Fate; accepted?: Accepted }> {
    entry.sends += 1;
    for (let asked = false; ; asked = true) {
      const answer = await exchange({
        method: 'POST',
        url: `${this.base}/commands`,
        body: entry.command.bytes,
        ...(this.token !== undefined && { token: this.token }),
      });
      if (answer.ok) return { fate: acceptedFate(answer.value.bytes), accepted: answer.value.value as Accepted };
      const advice = adviceFor(answer.problem);
      if (advice.next === 'log_in' && !asked && !(await this.logIn(false))) continue;
      if (advice.next === 'resend') {
        if (answer.problem.kind === 'refused') entry.putOff += 1;
      }
      if (advice.next === 'resend' || advice.next === 'log_in') {
        entry.lost += 1;
        return { fate: { fate: 'unanswered' } };
      }
      const code = answer.problem.kind === 'refused' ? answer.problem.code : answer.problem.kind;
      return { fate: { fate: 'refused', code } };
    }
  }

  /** The receipt's bytes as the service gives them to its actor; undefined when there is none. */
  async receipt(actionId: string): Promise<string | undefined> {
    const url = `${this.base}/receipts/${encodeURIComponent(actionId)}`;
    const answer = await exchange({ method: 'GET', url, ...(this.token !== undefined && { token: this.token }) });
    return answer.ok ? receiptIn(answer.value.bytes) : undefined;
  }

  /** The Group's last state as the authority signs it; undefined when there is no answer. */
  async snapshotOf(groupId: string): Promise<object | undefined> {
    const url = `${this.base}/groups/${encodeURIComponent(groupId)}/snapshots`;
    const ask = () => exchange({ method: 'POST', url, ...(this.token !== undefined && { token: this.token }) });
    const answer = await this.stage.gate.through(ask);
    return answer.ok ? (answer.value.value as { snapshot: object }).snapshot : undefined;
  }

  private get base(): string {
    return `${this.stage.url}/v1/orgs/${this.slug}`;
  }

  private async logIn(openSession: boolean): Promise<Problem | undefined> {
    const client = new AuthorityClient({ url: this.stage.url, organization: this.slug, key: this.key });
    const answer = openSession ? await client.openSession() : await client.logIn();
    if (!answer.ok) return answer.problem;
    this.token = answer.value.token;
    this.sessionEpoch = answer.value.sessionEpoch ?? this.sessionEpoch;
    return undefined;
  }
}

function isRefused({ fate }: Entry): boolean {
  return fate.fate === 'refused';
}

function isSameReceipt(known: Fate, again: Fate): boolean {
  return known.fate === 'accepted' && again.fate === 'accepted' && again.duplicate && again.receipt === known.receipt;
}

function acceptedFate(bytes: Uint8Array): Fate {
  const { duplicate } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Accepted;
  return { fate: 'accepted', receipt: receiptIn(bytes), duplicate };
}

/** The receipt stands first in an answer, byte for byte. */
function receiptIn(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  const receipt = canonicalText((JSON.parse(text) as Accepted).receipt);
  if (!text.startsWith(`{"receipt":${receipt},`)) throw new Error('the answer does not begin with the receipt');
  return receipt;
}
