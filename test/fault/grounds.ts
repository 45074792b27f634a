// The databases of one run: folders for SQLite, and a PostgreSQL server of the run's own that syncs every commit and that
// nobody else minds being killed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import type { Engine } from '../bench/places.ts';
import { Ground } from './ground.ts';

export class Grounds {
  private readonly folders: string[] = [];
  private databases = 0;
  private running: EmbeddedPostgres | undefined;

  /** `tablespace`: of a new database of PostgreSQL. `within`: the parent of a SQLite folder. */
  async open(engine: Engine, options: { tablespace?: string; within?: string } = {}): Promise<Ground> {
    if (engine === 'sqlite') {
      const folder = mkdtempSync(join(options.within ?? tmpdir(), 'mwp-fault-'));
      this.folders.push(folder);
      return new Ground({ engine, address: folder });
    }
    const server = await this.server();
    const name = `fault_${(this.databases += 1)}`;
    const where = options.tablespace === undefined ? '' : ` TABLESPACE ${options.tablespace}`;
    await asOwner(server, `CREATE DATABASE ${name}${where}`);
    const url = new URL(server.url);
    url.pathname = name;
    return new Ground({ engine, address: url.href });
  }

  async server(): Promise<EmbeddedPostgres> {
    return (this.running ??= await startEmbeddedPostgres({ durable: true }));
  }

  async close(): Promise<void> {
    await this.running?.stop();
    for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }
}

export async function asOwner(server: { url: string }, text: string): Promise<readonly Record<string, unknown>[]> {
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
