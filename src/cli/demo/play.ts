// One mission as it is played: who acts in which Group, what is told about it, and what the answers must be. Every scene
// goes through `does` (must be accepted) or `mayNot` (must be refused, with exactly that code).

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Event } from '../../protocol/documents/event.ts';
import type { CommandKind } from '../../protocol/kinds.ts';
import type { ErrorCode } from '../../protocol/refusals.ts';
import type { Accepted, MissionItem } from '../../worker/answers.ts';
import type { CommandDraft, Epochs } from '../../worker/commands.ts';
import { GroupReader } from '../../worker/group-reader.ts';
import { describeProblem, type Outcome } from '../../worker/outcome.ts';
import type { Actor } from './actor.ts';
import type { Cast } from './cast.ts';
import { StoryStopped, type Checks } from './checks.ts';
import { PLOTS, type Plot } from './plot.ts';
import type { Lane, Screen, Tone } from './screen.ts';

/** The draft without what the play fills in; `workItemId` and the like go along unchanged. */
export type Line = Omit<CommandDraft, 'kind' | 'payload' | 'groupId'> & {
  /** Instead of the actor's own, for showing what a stale one meets. */
  readonly epochs?: Epochs;
  readonly tone?: Tone;
};

/** What must fail: "tries … ", and the code that it must meet. */
export interface Attempt {
  readonly tries: string;
  readonly meets: ErrorCode;
}

export interface Staging {
  readonly cast: Cast;
  readonly screen: Screen;
  readonly checks: Checks;
  readonly paceMs: number;
  readonly signal: AbortSignal;
}

export class Play {
  readonly lane: Lane;
  readonly plot: Plot;
  readonly missionId = `urn:uuid:${randomUUID()}`;
  readonly groupId = `urn:uuid:${randomUUID()}`;
  readonly cast: Cast;
  readonly checks: Checks;
  /** The Group's main Conversation; known once the Mission is created. */
  conversationId = '';
  private readonly staging: Staging;
  private authorized = 0;
  private verified = 0;

  constructor(lane: Lane, staging: Staging) {
    this.lane = lane;
    this.plot = PLOTS[lane];
    this.staging = staging;
    this.cast = staging.cast;
    this.checks = staging.checks;
  }

  async tell(text: string, who = '', tone: Tone = 'told'): Promise<void> {
    this.staging.screen.tell(text, { lane: this.lane, who, tone });
    if (this.staging.paceMs > 0) await delay(this.staging.paceMs, undefined, { signal: this.staging.signal });
  }

  /** Signed, sent and accepted, or the story ends. */
  async does(actor: Actor, say: string, kind: CommandKind, payload: object, line: Line = {}): Promise<Accepted> {
    const outcome = await this.tries(actor, kind, payload, line);
    if (!outcome.ok) {
      const claim = `${this.lane}: ${actor.name} ${say} (${kind})`;
      this.checks.equal(claim, describeProblem(outcome.problem), 'accepted');
      throw new StoryStopped(claim);
    }
    await this.tell(say, actor.name, line.tone);
    return outcome.value;
  }

  oneMoreAuthorized(): void {
    this.authorized += 1;
  }

  /** How far the mission is, as a picture: one box for each WorkItem, full when verified. */
  oneMoreVerified(): string {
    this.verified += 1;
    return '■'.repeat(this.verified) + '□'.repeat(Math.max(0, this.authorized - this.verified));
  }

  /** Signed, sent, and refused with that code; anything else is a failed check and the story goes on. */
  async mayNot(actor: Actor, attempt: Attempt, kind: CommandKind, payload: object, line: Line = {}): Promise<void> {
    const outcome = await this.tries(actor, kind, payload, line);
    await this.refusal(actor, attempt, answerOf(outcome));
  }

  /** One thing that must fail, told with the code that it met. */
  async refusal(actor: Actor, { tries, meets }: Attempt, found: string): Promise<void> {
    const passed = this.checks.equal(`${this.lane}: ${actor.name} tries ${tries}`, found, meets);
    await this.tell(`tries ${tries} → ${found}`, actor.name, passed ? 'refused' : 'bad');
  }

  tries(actor: Actor, kind: CommandKind, payload: object, line: Line = {}): Promise<Outcome<Accepted>> {
    const { epochs, tone: _told, ...members } = line;
    const draft = { ...members, kind, groupId: this.groupId, payload: { ...payload } };
    return actor.send(actor.sign(draft, epochs));
  }

  async missionAs(actor: Actor): Promise<MissionItem> {
    const mission = await actor.client.read<MissionItem>(`/missions/${encodeURIComponent(this.missionId)}`);
    if (!mission.ok) throw new StoryStopped(`${actor.name} reads the mission (${answerOf(mission)})`);
    return mission.value;
  }

  readAs(actor: Actor): GroupReader {
    return new GroupReader(actor.client, this.groupId);
  }
}

/** `accepted`, the code, or what else happened. */
export function answerOf(outcome: Outcome<unknown>): string {
  if (outcome.ok) return 'accepted';
  return outcome.problem.kind === 'refused' ? outcome.problem.code : outcome.problem.kind;
}

/** The one Event of that kind in an answer; the story cannot go on without it. */
export function eventIn(answer: Accepted, kind: string): Event {
  const event = answer.events.find((candidate) => candidate.kind === kind);
  if (event === undefined) throw new StoryStopped(`${kind} among the answered Events`);
  return event;
}
