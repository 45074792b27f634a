// One actor of the story: a key of its own, a client of its own, and what it currently is in each Group. It signs and
// sends; what the answer means is the play's business.

import type { Principal } from '../../protocol/principals.ts';
import type { Accepted } from '../../worker/answers.ts';
import { AuthorityClient } from '../../worker/client.ts';
import { signCommand, type CommandDraft, type Epochs, type SignedCommand } from '../../worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../worker/keys.ts';
import { describeProblem, type Outcome } from '../../worker/outcome.ts';
import { Standing } from '../../worker/standing.ts';
import type { Journal } from './journal.ts';

export interface Casting {
  readonly name: string;
  readonly principal: Principal;
  readonly url: string;
  readonly organization: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

export class Actor {
  readonly name: string;
  readonly key: ActorKey;
  readonly client: AuthorityClient;
  readonly standing: Standing;
  private readonly journal: Journal;
  private readonly signal: AbortSignal;
  private desk: Promise<unknown> = Promise.resolve();

  constructor(casting: Casting) {
    const { name, principal, url, organization, journal, signal } = casting;
    this.name = name;
    this.key = generateActorKey(principal, `${principal.id}/keys/1`);
    this.client = new AuthorityClient({ url, organization, key: this.key });
    this.standing = new Standing(principal);
    this.journal = journal;
    this.signal = signal;
  }

  get principal(): Principal {
    return this.key.principal;
  }

  /** Agents open a session, humans only log in. */
  async arrive(): Promise<void> {
    const isAgent = this.principal.type === 'agent';
    const options = { signal: this.signal };
    const token = isAgent ? await this.client.openSession(options) : await this.client.logIn(options);
    if (!token.ok) throw new Error(`${this.name} cannot log in: ${describeProblem(token.problem)}`);
    if (token.value.sessionEpoch !== undefined) this.standing.sessionOpened(token.value.sessionEpoch);
  }

  /** Reads its own epochs, as after somebody else changed its Membership. */
  async lookAround(): Promise<void> {
    const me = await this.client.me({ signal: this.signal });
    if (!me.ok) throw new Error(`${this.name} cannot read /me: ${describeProblem(me.problem)}`);
    this.standing.learnFromMe(me.value);
  }

  /** `epochs` replaces what the actor knows, for showing what a stale one meets. */
  sign(draft: CommandDraft, epochs: Epochs = {}): SignedCommand {
    const known = draft.groupId === undefined ? {} : this.standing.epochsIn(draft.groupId);
    return signCommand(this.key, draft, { ...known, ...epochs });
  }

  /** Throws when the demo is stopping: the other mission failed or somebody pressed Ctrl-C, and that is what gets told. */
  async send(command: SignedCommand): Promise<Outcome<Accepted>> {
    const outcome = await this.client.submit(command, { signal: this.signal });
    if (!outcome.ok && outcome.problem.kind === 'aborted') this.signal.throwIfAborted();
    this.journal.record(command, outcome);
    if (outcome.ok) this.standing.learn(outcome.value.events);
    return outcome;
  }

  /**
   * An agent's own scheduler: one piece of work at a time. The policy of this Organization allows one active WorkItem to
   * an agent, over all Groups, so whoever works in two missions has to queue its work up.
   */
  async atDesk<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.desk;
    const mine = before.then(work);
    this.desk = mine.catch(() => undefined);
    return mine;
  }
}
