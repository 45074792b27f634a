// What a migration must keep to so that the release before can serve on (decision 16), as far as its text shows it.
import { describe, expect, it } from 'vitest';
import { shippedMigrations } from '../../src/store/migrations.ts';

/** Those before came with the first release: nobody served yet. */
const FIRST_UNDER_TRAFFIC = 4;

/** Sentences; empty when the rules are kept. */
function faultsOf(statements: string[]): string[] {
  const text = statements.join('\n').replaceAll(/--[^\n]*/g, '');
  const created = [...text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?"?mwp"?\."?(\w+)/gi)].map(([, name]) => name);
  const altered = [...text.matchAll(/ALTER TABLE (?:ONLY )?"?mwp"?\."?(\w+)/gi)].map(([, name]) => name);
  const existing = new Set(altered.filter((name) => !created.includes(name)));
  const faults: string[] = [];
  if (existing.size > 1) faults.push(`changes several tables: ${[...existing].join(', ')}`);
  for (const name of created) {
    if (!new RegExp(`ALTER TABLE "?mwp"?\\."?${name}"? FORCE ROW LEVEL SECURITY`, 'i').test(text)) {
      faults.push(`table ${name} does not force row-level security`);
    }
  }
  if (/ADD COLUMN (?:(?!,|;)[^])*NOT NULL(?!(?:(?!,|;)[^])*DEFAULT)/i.test(text)) {
    faults.push('adds a column that may not be null and has no default');
  }
  if (/DROP (TABLE|COLUMN)|RENAME /i.test(text) && !/migrations_needed/.test(text)) {
    faults.push('takes away what older releases use, and does not say how many migrations one must know');
  }
  if (/RETURNS (SETOF )?"?mwp"?\./i.test(text)) faults.push('answers the row type of a table, which may get a column');
  if (/CONCURRENTLY/i.test(text)) faults.push('builds an index outside a transaction, which the migrator does not');
  return faults;
}

describe('migrations of PostgreSQL', () => {
  it('keep to the rules of expanding first', () => {
    const later = shippedMigrations('postgres').slice(FIRST_UNDER_TRAFFIC);
    expect(later.flatMap(({ sql }, position) => faultsOf(sql).map((fault) => `${position}: ${fault}`))).toEqual([]);
  });

  it.each<[string, RegExp]>([
    ['ALTER TABLE mwp.events ADD COLUMN a text; ALTER TABLE "mwp"."texts" ADD COLUMN b text', /several tables/],
    ['CREATE TABLE "mwp"."later" (organization_id text)', /later does not force/],
    ['ALTER TABLE mwp.events ADD COLUMN a text NOT NULL', /may not be null/],
    ['ALTER TABLE mwp.events DROP COLUMN body', /takes away/],
    ['ALTER TABLE mwp.events RENAME TO happenings', /takes away/],
    ['CREATE FUNCTION mwp.f() RETURNS SETOF mwp.events LANGUAGE sql', /row type/],
    ['CREATE INDEX CONCURRENTLY i ON mwp.events (kind)', /outside a transaction/],
  ])('a migration that does not is found: %s', (statement, fault) => {
    expect(faultsOf([statement])).toEqual([expect.stringMatching(fault)]);
  });

  it.each([
    'ALTER TABLE mwp.events ADD COLUMN a text; ALTER TABLE mwp.events ADD COLUMN b bigint NOT NULL DEFAULT 0',
    'CREATE TABLE mwp.later (id text NOT NULL); ALTER TABLE mwp.later FORCE ROW LEVEL SECURITY; ALTER TABLE mwp.events ADD COLUMN a text',
  ])('a migration that does passes: %s', (statement) => {
    expect(faultsOf([statement])).toEqual([]);
  });
});
