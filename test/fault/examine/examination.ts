// What is looked into after each fault, and, now and then and at the end, everything.
import type { Look } from '../ground.ts';
import type { Load } from '../load.ts';
import type { Stage } from '../stage.ts';
import { examineAnswers, examineRegistered, examineRemembered } from './answers.ts';
import { examineBudgets, examineLeases, examineOrganizations, examineReplay, examineSeals } from './invariants.ts';
import type { HeadRecord } from '../../../src/store/stream-records.ts';
import { COUNTED, Rows, type Counts } from './rows.ts';
import { Segments } from './segments.ts';
import { countBy, rowsOf } from './sql.ts';

export interface Findings {
  /** Sentences; each is a bug. */
  violations: string[];
  /** Commands that at least one sending got no word about, and how many of them had happened by then. */
  unanswered: number;
  happened: number;
}

export class Examination {
  private readonly stage: Stage;
  private readonly load: Load;
  readonly segments = new Segments();
  private readonly organizations = new Map<string, Rows>();
  /** Of the last whole look. */
  events = 0;

  constructor(stage: Stage, load: Load) {
    this.stage = stage;
    this.load = load;
  }

  get transitions(): number {
    return [...this.organizations.values()].reduce((sum, rows) => sum + rows.transitions, 0);
  }

  /** The service is up and the gate is closed. */
  async examine(look: Look, options: { whole: boolean }): Promise<Findings> {
    const { behind, store, spaces } = look;
    const { ledger, chance } = this.stage;
    // As the fault left it, before anything is retried.
    const violations = [...this.load.violations.splice(0), ...(await this.examineRows(look))];
    violations.push(...(await examineAnswers(ledger, look, chance)));
    const unanswered = ledger.all().filter(({ lost }) => lost > 0);
    const happened = unanswered.filter(({ fate }) => fate.fate === 'accepted' && fate.duplicate).length;
    violations.push(...(await this.examineRows(look)));
    violations.push(...(await examineLeases(behind)), ...(await examineOrganizations(behind)));
    violations.push(...(await examineSeals(behind)));
    violations.push(...(await examineRegistered(this.load.registrar.registered, behind)));
    if (options.whole) {
      violations.push(...(await examineRemembered(ledger.remembered, behind)), ...(await examineBudgets(behind)));
      const { events, faults } = await examineReplay(store, spaces.snapshots);
      this.events = events;
      violations.push(...faults);
    }
    ledger.forgetSettled();
    return { violations, unanswered: unanswered.length, happened };
  }

  private async examineRows(look: Look): Promise<string[]> {
    const { behind } = look;
    const violations: string[] = [];
    const heads = countBy(await rowsOf<HeadRecord & Tenant>(behind, 'SELECT * FROM {streams}'), organizationOf);
    const counts = new Map<string, Counts>();
    for (const table of COUNTED) {
      // Records of snapshots belong to no transition.
      const which = table === 'admissions' ? `WHERE stream_id NOT LIKE 'snapshots %'` : '';
      const text = `SELECT organization_id, count(*) AS count FROM {${table}} ${which} GROUP BY organization_id`;
      for (const row of await rowsOf<Tenant & { count: number }>(behind, text)) {
        counts.set(row.organization_id, { ...counts.get(row.organization_id), [table]: row.count });
      }
    }
    for (const name of new Set([...counts.keys(), ...this.organizations.keys()])) {
      const rows = this.organizations.get(name) ?? new Rows(name);
      this.organizations.set(name, rows);
      const faults = await rows.examine(look, heads.get(name) ?? [], counts.get(name) ?? {});
      violations.push(...faults.map((fault) => `${name}: ${fault}`));
    }
    const seen = (organizationId: string, eventId: string) =>
      this.organizations.get(organizationId)?.bodies.get(eventId);
    violations.push(...(await this.segments.examine(look, seen)));
    return violations;
  }
}

interface Tenant {
  organization_id: string;
}

function organizationOf({ organization_id }: Tenant): string {
  return organization_id;
}
