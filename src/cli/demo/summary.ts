// The end of the telling: what each Group's history holds, what was spent, what was refused, what was proved, and the
// verdict. Numbers only; the claims stand in the checks.

import type { Amounts } from '../../domain/aggregates.ts';
import type { AuditResult, GroupRecord } from './audit.ts';
import type { Checks } from './checks.ts';
import type { Account } from './group-record.ts';
import type { Journal } from './journal.ts';
import { padTo, widthOf } from './palette.ts';
import type { Lane, Screen } from './screen.ts';

export interface Findings {
  readonly records: readonly GroupRecord[];
  readonly accounts: Readonly<Record<Lane, Account>>;
  readonly audit: AuditResult;
  readonly journal: Journal;
  /** From the first Command to the last. */
  readonly seconds: number;
}

export function summarize(screen: Screen, findings: Findings, checks: Checks): void {
  const { bold } = screen.palette;
  screen.line();
  screen.line(bold('Events'));
  table(screen, eventRows(findings.records));
  screen.line();
  screen.line(bold('Budgets'));
  table(screen, budgetRows(findings.accounts));
  screen.line();
  screen.line(bold('Refused, as it must be'));
  table(screen, refusalRows(findings.journal, checks), 2);
  screen.line();
  screen.line(bold('Proved'));
  for (const line of proofs(findings)) screen.line(`  ${line}`);
}

function proofs({ audit, records, journal, seconds }: Findings): string[] {
  const { eventsVerified, documentsVerified, receiptsCompared } = audit;
  const { entries } = journal;
  const refused = entries.filter(({ outcome }) => !outcome.ok).length;
  const outcomes = `${receiptsCompared} accepted, ${journal.duplicates()} repeats, ${refused} refused`;
  const sent = `${entries.length} Commands sent in ${seconds.toFixed(1)} s: ${outcomes}`;
  return [
    sent,
    `${eventsVerified} Events verified with nothing but the authority's public key`,
    `${documentsVerified} Artifacts, Evidence and Approvals verified with the keys of those who signed them`,
    `${receiptsCompared} receipts name the Command sent and the Events stored, hash by hash`,
    ...records.map(
      ({ lane, state, headSequence }) =>
        `${lane}: sequence 1 to ${headSequence} without a gap, folded to the authority's own state ${state.stateHash.slice(7, 23)}`,
    ),
  ];
}

/** How often each code was answered to a Command, and the first attempt that met it. */
function refusalRows(journal: Journal, checks: Checks): string[][] {
  const attempt = (code: string) => checks.passed.find(({ expected, found }) => expected === code && found === code);
  return [
    ['code', 'Commands', 'for instance'],
    ...journal.refusals().map(([code, count]) => [code, String(count), attempt(code)?.claim ?? '']),
  ];
}

/** The last line is the verdict; before it, each failed claim with what was expected and what was found. */
export function verdict(screen: Screen, checks: Checks): void {
  const { good, bad, bold } = screen.palette;
  screen.line();
  for (const { claim, expected, found } of checks.failed) {
    screen.line(bad(`✗ ${claim}`));
    screen.line(`    expected  ${expected}`);
    screen.line(`    found     ${found}`);
  }
  const { passed, failed } = checks;
  const paint = failed.length === 0 ? good : bad;
  screen.line(bold(paint(`${passed.length} checks passed, ${failed.length} failed`)));
}

const FAMILIES: readonly [string, (kind: string) => boolean][] = [
  ['mission', (kind) => kind.startsWith('mission.')],
  ['membership', (kind) => kind.startsWith('membership.')],
  ['message', (kind) => kind.startsWith('message.')],
  ['work', (kind) => kind.startsWith('work.')],
  ['artifact', (kind) => kind.startsWith('artifact.')],
  ['approval of an execution', (kind) => kind.startsWith('approval.')],
  ['usage', (kind) => kind.endsWith('.resource_usage_recorded')],
  ['lease revoked', (kind) => kind.endsWith('.work_execution_lease_revoked')],
  ['archive', (kind) => kind.startsWith('group.')],
];

function eventRows(records: readonly GroupRecord[]): string[][] {
  const kinds = records.map(({ events }) => events.map(({ kind }) => kind));
  const families = FAMILIES.map(([name, belongs]) => [name, ...kinds.map((own) => String(own.filter(belongs).length))]);
  const lanes = records.map(({ lane }) => lane as string);
  return [['', ...lanes], ...families, ['all', ...kinds.map((own) => String(own.length))]];
}

const DIMENSIONS: readonly [keyof Amounts, string][] = [
  ['financialMicrounits', 'money'],
  ['modelTokens', 'model tokens'],
  ['toolCalls', 'tool calls'],
  ['externalActions', 'external actions'],
];

function budgetRows(accounts: Findings['accounts']): string[][] {
  const rows = (['A', 'B'] as const).flatMap((lane) =>
    DIMENSIONS.map(([dimension, name], index) => {
      const { limit, treeUsage, currency } = accounts[lane];
      const show = (amount: number) => inUnits(dimension, amount, currency);
      const used = treeUsage?.[dimension] ?? 0;
      const allowed = limit[dimension] ?? 0;
      return [`${index === 0 ? lane : ' '}  ${name}`, show(allowed), show(used), show(allowed - used)];
    }),
  );
  return [['', 'limit', 'used', 'left'], ...rows];
}

function inUnits(dimension: keyof Amounts, amount: number, currency = ''): string {
  if (dimension === 'financialMicrounits') return `${(amount / 1_000_000).toFixed(2)} ${currency}`;
  return amount.toLocaleString('en-US');
}

/** First column to the left, numbers to the right, words in the last again to the left; the first row is the heading. */
function table(screen: Screen, rows: readonly (readonly string[])[], wordsFrom = Infinity): void {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  rows.forEach((row, index) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 || column >= wordsFrom ? padTo(cell, width) : ' '.repeat(width - widthOf(cell)) + cell;
    });
    const line = `  ${cells.join('   ')}`.trimEnd();
    screen.line(index === 0 ? screen.palette.faint(line) : line);
  });
}
