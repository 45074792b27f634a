// MWP-FND-013c: what is accepted is never altered, also not behind the back of the store, as the owner of the tables.
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUNTIME_ROLE } from '../../src/store/postgres/open.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Behind } from './behind.ts';
import { lookBehind } from './behind.ts';
import { fillEveryTable } from './portrait.ts';

/** Tables whose rows stay as they are, with the columns that nobody may touch. */
const FIXED = [
  'principals',
  'key_bindings',
  'key_validity',
  'policies',
  'admissions',
  'transitions',
  'receipts',
  'policy_log',
  'group_snapshots',
  'withheld',
  'renditions',
];
/** Tables whose rows stay, but for a body that a seal or an erasure takes out. */
const FIXED_BUT_BODY = ['events', 'commands', 'documents'];
/** An erasure seals a segment anew: other bytes of the same range. */
const OF_BYTES = ['hash', 'size'];

describe.each(STORES)('immutability on $name', ({ name: engine, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  beforeAll(async () => {
    opened = await open();
    behind = lookBehind(opened);
    await fillEveryTable(opened.store, 'a');
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  const columnsOf = async (table: string) => {
    const rows = await behind.query(
      engine === 'postgres'
        ? `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'mwp.${table}'::regclass AND attnum > 0`
        : `SELECT name FROM pragma_table_info('${table}')`,
    );
    return rows.map((row) => String(row['name']));
  };
  /** A value that any column takes and none holds. */
  const other = (column: string) =>
    /^(position|sequence|revision|version|aggregate_revision|through_sequence|(first|last)_(sequence|revision))$/.test(
      column,
    )
      ? '777'
      : `'other'`;

  it.each([...FIXED, ...FIXED_BUT_BODY])(
    'MWP-FND-013c, MWP-SDV-012a, MWP-ADM-003a: no column of %s can be updated',
    async (table) => {
      const columns = await columnsOf(table);
      expect(columns.length).toBeGreaterThan(2);
      for (const column of columns) {
        const update = behind.query(`UPDATE {${table}} SET ${column} = ${other(column)}`);
        await expect(update, column).rejects.toThrow(/never changed/);
      }
    },
  );

  it('MWP-FND-013c: of a segment only its bytes change, never the range that they are of', async () => {
    for (const column of (await columnsOf('segments')).filter((name) => !OF_BYTES.includes(name))) {
      const update = behind.query(`UPDATE {segments} SET ${column} = ${other(column)}`);
      await expect(update, column).rejects.toThrow(/never changed/);
    }
    await behind.query(`UPDATE {segments} SET hash = 'other', size = 777`);
  });

  it.each([...FIXED, ...FIXED_BUT_BODY, 'segments', 'streams'])(
    'MWP-FND-013c, MWP-SDV-012a, MWP-ADM-003a: no row of %s can be deleted',
    async (table) => {
      await expect(behind.query(`DELETE FROM {${table}}`)).rejects.toThrow(/never changed/);
      const [row] = await behind.query(`SELECT count(*) AS count FROM {${table}}`);
      expect(Number(row?.['count'])).toBeGreaterThan(0);
    },
  );

  it('MWP-FND-013c: an erasure moves forward only, one step at a time, and no other column with it', async () => {
    const step = (state: string, more: string) => behind.query(`UPDATE {erasures} SET state = '${state}', ${more}`);
    const steps = [
      ['taken', `taken_at = 't', blobs = '["b"]'`],
      ['removed', `removed_at = 't', blobs = '[]'`],
      ['scrubbed', `scrubbed_at = 't'`],
    ] as const;
    for (const [at, [state, more]] of steps.entries()) {
      for (const [ahead, moreAhead] of steps.slice(at + 1))
        await expect(step(ahead, moreAhead), ahead).rejects.toThrow(/never changed/);
      for (const other of [`group_id = 'x'`, `recorded_at = 'x'`, 'last_sequence = 777'])
        await expect(step(state, `${more}, ${other}`), other).rejects.toThrow(/never changed/);
      await step(state, more);
      for (const back of ['due', state]) await expect(step(back, more), back).rejects.toThrow(/never changed/);
    }
    await expect(behind.query('DELETE FROM {erasures}')).rejects.toThrow(/never changed/);
  });

  it('MWP-FND-013c: a text goes with the erasure of its Event and not without', async () => {
    const text = (id: string) => `('https://a.example', 'c ${id}', '${id}', 'g', '"said"')`;
    const columns = '(organization_id, commitment, event_id, group_id, value)';
    await behind.query(`INSERT INTO {texts} ${columns} VALUES ${text('urn:event:kept')}, ${text('urn:event:same')}`);
    const remove = (id: string) => behind.query(`DELETE FROM {texts} WHERE commitment = 'c ${id}'`);
    await expect(remove('urn:event:kept')).rejects.toThrow(/never changed/);
    await remove('urn:event:same');
    const left = await behind.query(`SELECT event_id FROM {texts} WHERE group_id = 'g'`);
    expect(left.map((row) => row['event_id'])).toEqual(['urn:event:kept']);
  });

  it('MWP-FND-013c: a head moves forward only, and keeps its tree', async () => {
    for (const change of [`position = position - 1`, `revision = revision`, `root_group_id = 'x', revision = 99`]) {
      await expect(behind.query(`UPDATE {streams} SET ${change}`), change).rejects.toThrow(/moves forward/);
    }
  });

  it('MWP-EVT-005a: an Event cannot be put in behind a gap', async () => {
    const columns = (await columnsOf('events')).map((column) =>
      column === 'position' ? '9' : column === 'event_id' ? `'fresh'` : column,
    );
    const insert = behind.query(`INSERT INTO {events} SELECT ${columns.join(', ')} FROM {events} LIMIT 1`);
    await expect(insert).rejects.toThrow(/does not follow/);
  });

  it.each(FIXED_BUT_BODY)('a body of %s leaves once, and nothing takes its place', async (table) => {
    await behind.query(`UPDATE {${table}} SET body = NULL`);
    await expect(behind.query(`UPDATE {${table}} SET body = 'forged'`)).rejects.toThrow(/never changed/);
  });
});

describe('immutability for the roles of PostgreSQL', () => {
  let opened: OpenedStore;
  let behind: Behind;
  beforeAll(async () => {
    const { open } = STORES.find(({ name }) => name === 'postgres') as (typeof STORES)[number];
    opened = await open();
    behind = lookBehind(opened);
    await fillEveryTable(opened.store, 'a');
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  it('the service itself may not even try', async () => {
    const runtime = postgres(opened.address, { max: 1, fetch_types: false, connection: { role: RUNTIME_ROLE } });
    try {
      for (const table of [...FIXED, ...FIXED_BUT_BODY, 'segments']) {
        for (const text of [
          `UPDATE mwp.${table} SET organization_id = ''`,
          `DELETE FROM mwp.${table}`,
          `TRUNCATE mwp.${table}`,
        ]) {
          await expect(runtime.unsafe(text), text).rejects.toMatchObject({ code: '42501' });
        }
      }
    } finally {
      await runtime.end();
    }
  });

  it('the owner cannot empty a table either', async () => {
    for (const table of [...FIXED, ...FIXED_BUT_BODY, 'segments']) {
      await expect(behind.query(`TRUNCATE {${table}} CASCADE`), table).rejects.toThrow(/never changed/);
    }
  });
});
