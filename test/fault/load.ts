// The load: all players at once, each going on until the gate is closed for good. What a player finds that must not be is
// kept for the examination.
import { LoadIsOver } from './gate.ts';
import { archiveOnce } from './players/archivist.ts';
import { Registrar } from './players/registrar.ts';
import { redact, repeat, rule, say, trespass } from './players/talk.ts';
import { workOnce } from './players/work.ts';
import type { Stage } from './stage.ts';
import type { Organization } from './world.ts';

/** Milliseconds between two turns of who is there for variety and not for load. */
const SELDOM_MS = 30;

export class Load {
  readonly registrar: Registrar;
  /** Sentences. */
  readonly violations: string[] = [];
  private readonly stage: Stage;
  private readonly playing: Promise<void>[] = [];

  constructor(stage: Stage, organizations: readonly Organization[]) {
    this.stage = stage;
    this.registrar = new Registrar(stage);
    for (const organization of organizations) this.begin(organization);
  }

  async end(): Promise<void> {
    this.stage.gate.end();
    await Promise.all(this.playing);
  }

  private begin({ slug, hot, speakers, teams, newcomer, archivist }: Organization): void {
    const { chance } = this.stage;
    for (const speaker of speakers) this.keep(() => say(speaker, hot.groupId, hot.conversationId));
    for (const team of teams) {
      this.keep(() => workOnce(team, chance));
      this.keep(() => workOnce(team, chance));
      this.keep(() => say(team.owner, team.groupId, team.conversationId));
      this.keep(() => rule(team, chance), SELDOM_MS);
      this.keep(() => redact(team), SELDOM_MS);
    }
    this.keep(() => trespass(chance.of(speakers), hot.groupId, hot.conversationId), SELDOM_MS);
    this.keep(() => repeat(this.stage, chance), SELDOM_MS);
    this.keep(() => archiveOnce(chance.of(teams), archivist), SELDOM_MS);
    this.keep(() => newcomer.openSession(), SELDOM_MS);
    this.keep(() => this.registrar.registerOne(slug, chance), SELDOM_MS);
  }

  private keep(turn: () => Promise<void>, pauseMs = 0): void {
    const player = async () => {
      for (;;) {
        // Also who has nothing to say just now waits at the gate, and hears there that the load is over.
        await this.stage.gate.through(async () => undefined);
        await turn();
        // Also what never waits lets the others in.
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    this.playing.push(
      player().catch((error: unknown) => {
        if (!(error instanceof LoadIsOver)) this.violations.push(`a player stopped: ${(error as Error).stack}`);
      }),
    );
  }
}
