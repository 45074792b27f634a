// All that is stored of one Organization, as a hash per table, looked at behind the back of the service. What may change
// without a Command is the audit record and the challenges that were used; both are bounded, and counted.
import { createHash } from 'node:crypto';
import { AUDIT_MAXIMUM } from '../../src/store/port.ts';
import type { Behind } from '../contract/behind.ts';

const BOUNDED = ['audit', 'challenges'];
/** A challenge is remembered for half a minute. Nobody fuzzes faster than this. */
const CHALLENGES_MAXIMUM = 100_000;

export type Portrait = ReadonlyMap<string, string>;

export async function portraitOf(behind: Behind, organizationId: string): Promise<Portrait> {
  const portrait = new Map<string, string>();
  for (const table of await behind.tables()) {
    if (BOUNDED.includes(table)) continue;
    const rows = await behind.query(`SELECT * FROM {${table}} WHERE organization_id = '${organizationId}'`);
    const texts = rows.map((row) => JSON.stringify(row)).sort();
    portrait.set(table, `${rows.length} ${createHash('sha256').update(texts.join('\n')).digest('hex')}`);
  }
  return portrait;
}

export function differences(before: Portrait, after: Portrait): string[] {
  return [...after]
    .filter(([table, text]) => before.get(table) !== text)
    .map(([table, text]) => {
      return `rows of ${table} changed: ${before.get(table)?.split(' ')[0]} were there, now ${text.split(' ')[0]}`;
    });
}

/** Sentences about what grew beyond its bound. */
export async function overgrown(behind: Behind, organizationId: string): Promise<string[]> {
  const [audit, challenges] = await Promise.all(BOUNDED.map((table) => countOf(behind, table, organizationId)));
  const found: string[] = [];
  if ((audit ?? 0) > AUDIT_MAXIMUM) found.push(`${audit} audit records`);
  if ((challenges ?? 0) > CHALLENGES_MAXIMUM) found.push(`${challenges} challenges are remembered`);
  return found;
}

export async function countOf(behind: Behind, table: string, organizationId: string): Promise<number> {
  const [row] = await behind.query(
    `SELECT count(*) AS count FROM {${table}} WHERE organization_id = '${organizationId}'`,
  );
  return Number(row?.['count']);
}
