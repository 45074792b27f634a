// One run of the demo: set the stage, play both missions, audit what is left, tell the result, take everything down.

import type { Engine } from './arguments.ts';
import { auditGroups, type GroupRecord, type History } from './audit.ts';
import { PARTS } from './cast.ts';
import { Checks, StoryStopped } from './checks.ts';
import { Journal } from './journal.ts';
import { playBoth } from './missions.ts';
import { answerOf, Play } from './play.ts';
import { PLOTS } from './plot.ts';
import type { Lane, Screen } from './screen.ts';
import { setStage, type Stage, type StageHands } from './stage.ts';
import { summarize, verdict, type Findings } from './summary.ts';

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
    const stage = await setStage({ database, journal, signal, hands });
    introduce(screen, stage);
    const staging = { cast: stage.cast, screen, checks, paceMs, signal };
    const plays = { A: new Play('A', staging), B: new Play('B', staging) };
    await playBoth(plays, stop);
    const records = [await readGroup(plays.A), await readGroup(plays.B)];
    const history = { records, organization: stage.organization, journal };
    const audit = auditGroups(history, checks);
    options.furtherChecks?.(checks, history);
    const accounts = { A: await readAccount(plays.A), B: await readAccount(plays.B) };
    checkBudget(checks, accounts);
    await checkAudit(checks, journal, stage);
    summarize(screen, { records, accounts, audit, journal });
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
  screen.lanes({ A: PLOTS.A.title, B: PLOTS.B.title });
}

/** As the owner, a full member, reads it. */
async function readGroup(play: Play): Promise<GroupRecord> {
  const reader = play.readAs(play.cast.olga);
  const [events, group, state] = await Promise.all([reader.events(), reader.group(), reader.state()]);
  if (!events.ok) throw new StoryStopped(`the Events of ${play.lane} are read (${answerOf(events)})`);
  if (!group.ok) throw new StoryStopped(`the Group of ${play.lane} is read (${answerOf(group)})`);
  if (!state.ok) throw new StoryStopped(`the state of ${play.lane} is read (${answerOf(state)})`);
  const { lane, groupId } = play;
  return { lane, groupId, events: events.value, headSequence: group.value.headSequence, state: state.value };
}

async function readAccount(play: Play) {
  const budgets = await play.readAs(play.cast.olga).list('budgets');
  if (!budgets.ok) throw new StoryStopped(`the budgets of ${play.lane} are read (${answerOf(budgets)})`);
  const found = budgets.value.find(({ account }) => account.owner.id === play.missionId);
  if (found === undefined) throw new StoryStopped(`the mission of ${play.lane} has a budget`);
  return found.account;
}

/** The service keeps a protected record of each refusal; that they are all there, and no more, is the operator's to see. */
async function checkAudit(checks: Checks, journal: Journal, { operator, organization }: Stage): Promise<void> {
  const recorded = new Map<string, number>();
  for (const { code } of await operator.audit(organization.slug)) recorded.set(code, (recorded.get(code) ?? 0) + 1);
  const told = new Map<string, number>(journal.refusals());
  checks.equal('the protected audit holds every refusal, by code', recorded, told);
}

function checkBudget(checks: Checks, accounts: Findings['accounts']): void {
  for (const lane of ['A', 'B'] as const satisfies readonly Lane[]) {
    const { limit, treeUsage } = accounts[lane];
    const within = Object.entries(treeUsage ?? {}).every(
      ([name, used]) => used <= (limit[name as keyof typeof limit] ?? 0),
    );
    checks.holds(
      `${lane}: what was used stays within the mission's budget`,
      treeUsage !== null && within,
      accounts[lane],
    );
  }
}
