// Changes rows behind the service's back: guards off, one row at a time, and every change can be undone. Which columns there
// are comes from the database's own catalogue.
import type { OpenedStore } from '../support/databases.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';

export type Row = Record<string, unknown>;
export type Undo = () => Promise<void>;

export interface Column {
  table: string;
  name: string;
  isNumber: boolean;
}

export class Vandal {
  private readonly behind: Behind;
  private readonly engine: 'sqlite' | 'postgres';
  /** How this engine names a row; on PostgreSQL a changed row has another name. */
  private readonly place: 'rowid' | 'ctid';

  private constructor(opened: OpenedStore) {
    this.behind = lookBehind(opened);
    this.engine = opened.store.engine;
    this.place = this.engine === 'sqlite' ? 'rowid' : 'ctid';
  }

  static async over(opened: OpenedStore): Promise<Vandal> {
    const vandal = new Vandal(opened);
    await vandal.liftGuards();
    return vandal;
  }

  close(): Promise<void> {
    return this.behind.close();
  }

  tables(): Promise<string[]> {
    return this.behind.tables();
  }

  async columns(tables: readonly string[]): Promise<Column[]> {
    const wanted = tables.map((table) => `'${table}'`).join(', ');
    const rows = await this.behind.query(
      this.engine === 'sqlite'
        ? `SELECT m.name AS "table", c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c
           WHERE m.type = 'table' AND m.name IN (${wanted}) ORDER BY 1, c.cid`
        : `SELECT table_name AS "table", column_name AS name, data_type AS type FROM information_schema.columns
           WHERE table_schema = 'mwp' AND is_generated = 'NEVER' AND table_name IN (${wanted})
           ORDER BY 1, ordinal_position`,
    );
    return rows.map((row) => ({
      table: String(row['table']),
      name: String(row['name']),
      isNumber: ['INTEGER', 'bigint'].includes(String(row['type'])),
    }));
  }

  /** Every row with its place, in an order that does not change with what is done to it. */
  async rows(table: string): Promise<Row[]> {
    const columns = await this.columns([table]);
    const texts = columns.map(({ name, isNumber }) => (isNumber || this.engine === 'sqlite' ? name : `${name}::text`));
    const place = this.engine === 'sqlite' ? 'rowid AS place' : 'ctid::text AS place';
    return this.behind.query(
      `SELECT ${place}, ${texts.join(', ')} FROM {${table}} ORDER BY ${columns.map((_, at) => at + 2).join(', ')}`,
    );
  }

  /** Undefined: the database takes no such value, for a rule of uniqueness or because it is no JSON. */
  async set(table: string, row: Row, changes: Row): Promise<Undo | undefined> {
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, row[name]]));
    const place = await this.update(table, row['place'], changes);
    if (place === undefined) return undefined;
    return async () => {
      if ((await this.update(table, place, before)) === undefined) throw new Error('a change cannot be undone');
    };
  }

  async remove(table: string, row: Row): Promise<Undo> {
    await this.change(`DELETE FROM {${table}} WHERE ${this.at(row['place'])}`);
    return () => this.add(table, row).then(() => undefined);
  }

  async add(table: string, { place: _, ...row }: Row): Promise<Undo> {
    const values = Object.values(row).map(literal).join(', ');
    await this.change(`INSERT INTO {${table}} (${Object.keys(row).join(', ')}) VALUES (${values})`);
    return async () => {
      const where = Object.entries(row).map(([name, value]) => this.equals(name, value));
      await this.change(`DELETE FROM {${table}} WHERE ${where.join(' AND ')}`);
    };
  }

  async run(sql: string): Promise<void> {
    await this.change(sql);
  }

  private equals(name: string, value: unknown): string {
    if (value === null) return `${name} IS NULL`;
    const column = this.engine === 'postgres' && typeof value === 'string' ? `${name}::text` : name;
    return `${column} = ${literal(value)}`;
  }

  private async update(table: string, place: unknown, changes: Row): Promise<unknown> {
    const sets = Object.entries(changes).map(([name, value]) => `${name} = ${literal(value)}`);
    const update = `UPDATE {${table}} SET ${sets.join(', ')} WHERE ${this.at(place)}`;
    try {
      if (this.engine === 'sqlite') {
        await this.change(update);
        return place;
      }
      const [row] = await this.behind.query(`${update} RETURNING ctid::text AS place`);
      return row?.['place'];
    } catch (error) {
      if (/unique|invalid input syntax for type json|malformed JSON/i.test(String(error))) return undefined;
      throw error;
    }
  }

  private at(place: unknown): string {
    return `${this.place} = ${literal(place)}`;
  }

  /** The SQLite driver has no rows to give for a change; it is done all the same. */
  private async change(sql: string): Promise<void> {
    await this.behind.query(sql).catch((error: unknown) => {
      if (!String(error).includes('does not return data')) throw error;
    });
  }

  private async liftGuards(): Promise<void> {
    if (this.engine === 'sqlite') {
      const triggers = await this.behind.query("SELECT name FROM sqlite_master WHERE type = 'trigger'");
      for (const { name } of triggers) await this.change(`DROP TRIGGER ${String(name)}`);
      for (const pragma of ['foreign_keys = OFF', 'ignore_check_constraints = ON', 'synchronous = OFF']) {
        await this.change(`PRAGMA ${pragma}`);
      }
      return;
    }
    await this.behind.query('SET session_replication_role = replica');
    const checks = await this.behind.query(`SELECT conrelid::regclass::text AS table, conname AS name FROM pg_constraint
      WHERE connamespace = 'mwp'::regnamespace AND contype = 'c'`);
    for (const { table, name } of checks) {
      await this.behind.query(`ALTER TABLE ${String(table)} DROP CONSTRAINT ${String(name)}`);
    }
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'string') throw new Error('a value of no column');
  return `'${value.replaceAll("'", "''")}'`;
}

/** One byte of a text, a number, or a NULL, made another. `random`: from 0 to below its argument. */
export function flipped(value: unknown, { isNumber }: Column, random: (below: number) => number): unknown {
  if (isNumber) return Number(value ?? 0) + 1 + random(1_000);
  const text = typeof value === 'string' ? value : '';
  if (text === '') return 'x';
  const bytes = Buffer.from(text, 'utf8');
  for (;;) {
    const at = random(bytes.length);
    const byte = bytes[at] as number;
    const other = byte ^ (1 << random(7));
    // No half of a character, and no NUL, which no text column takes.
    if (byte >= 0x80 || other === 0) continue;
    bytes[at] = other;
    return bytes.toString('utf8');
  }
}

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
