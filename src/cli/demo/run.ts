// One run of the demo: set the stage, play both missions, audit what is left, tell the result, take everything down.

import type { Actor } from './actor.ts';
import type { Engine } from './arguments.ts';
import { checkArchived } from './archived.ts';
import { auditGroups, type History } from './audit.ts';
import { checkRefusals } from './refusals.ts';
import { checkBudgets, checkBytes, checkContents, readAccount, readGroup } from './group-record.ts';
import { PARTS } from './cast.ts';
import { Checks, StoryStopped } from './checks.ts';
import { Journal } from './journal.ts';
import { playBoth } from './missions.ts';
import { Play } from './play.ts';
import { PLOTS } from './plot.ts';
import type { Screen } from './screen.ts';
import { setStage, type Stage, type StageHands } from './stage.ts';
import { summarize, verdict } from './summary.ts';

export interface RunOptions {
  readonly database: Engine;
  readonly paceMs: number;
  readonly screen: Screen;
  readonly hands: StageHands;
  /** Aborted by the caller on Ctrl-C, and by the demo itself when one of its missions fails. */
  readonly stop: AbortController;
  /** A further look at the Groups' history, before the verdict; for tests of the demo itself. */
  readonly furtherChecks?: (checks: Checks, history: History) => void;
}

/** True when every check passed. Throws only for what is no check: no database, no service, an interruption. */
export async function runDemo(options: RunOptions): Promise<boolean> {
  const { database, screen, hands, stop, paceMs } = options;
  const checks = new Checks();
  const journal = new Journal();
  const { signal } = stop;
  try {
    screen.line(screen.palette.bold('MissionWeaveProtocol 0.1: two missions, one authority, every Command signed'));
    if (database.engine === 'embedded-postgres') screen.line('  starting a PostgreSQL server for it');
    const stage = await setStage({ database, journal, signal, hands });
    introduce(screen, stage);
    const staging = { cast: stage.cast, screen, checks, paceMs, signal };
    const plays = { A: new Play('A', staging), B: new Play('B', staging) };
    const startedAt = performance.now();
    await playBoth(plays, stop);
    const seconds = (performance.now() - startedAt) / 1_000;
    const records = [await readGroup(plays.A), await readGroup(plays.B)] as const;
    await checkBytes(plays.A, records[0], checks);
    await checkBytes(plays.B, records[1], checks);
    await checkContents(plays.A, records[0], checks);
    await checkContents(plays.B, records[1], checks);
    await checkArchived(plays.A, records[0], stage.organization, checks);
    await checkArchived(plays.B, records[1], stage.organization, checks);
    const actorKeys = (Object.values(stage.cast) as Actor[]).map(({ key }) => key);
    const history = { records, organization: stage.organization, actorKeys, journal };
    const audit = auditGroups(history, checks);
    options.furtherChecks?.(checks, history);
    const accounts = { A: await readAccount(plays.A), B: await readAccount(plays.B) };
    checkBudgets(checks, accounts);
    const groupIds = [plays.A.groupId, plays.B.groupId];
    await checkRefusals(checks, { journal, cast: stage.cast, groupIds });
    summarize(screen, { records, accounts, audit, journal, seconds }, checks);
  } catch (error) {
    if (!(error instanceof StoryStopped)) throw error;
    if (checks.failed.length === 0) checks.equal(error.message, 'it cannot', 'it can');
  } finally {
    await hands.close();
  }
  verdict(screen, checks);
  return checks.failed.length === 0;
}

function introduce(screen: Screen, stage: Stage): void {
  const { faint } = screen.palette;
  screen.line(`  ${faint('service ')} ${stage.url}, in this process, spoken to over HTTP only`);
  screen.line(`  ${faint('store   ')} ${stage.store}`);
  const people = Object.values(PARTS).map(({ name, does }) => `${name} (${does})`);
  people.forEach((line, index) => screen.line(`  ${faint(index === 0 ? 'cast    ' : '        ')} ${line}`));
  screen.line();
  const { good, refused, bad } = screen.palette;
  const legend = ['· done', good('✓ checked'), refused('⊘ tried, and refused as it must be'), bad('✗ wrong')];
  screen.line(`  ${legend.join('   ')}`);
  screen.line();
  screen.lanes({ A: PLOTS.A.title, B: PLOTS.B.title });
}
