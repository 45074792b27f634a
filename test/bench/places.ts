// Where a service keeps its data while it is measured: a SQLite file, or a database of an embedded PostgreSQL that syncs
// every commit. What is slow about a disk belongs to both the service and its floor.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';

export type Engine = 'sqlite' | 'postgres';

export interface Place {
  engine: Engine;
  /** The folder of a SQLite file, or the URL of a superuser. */
  address: string;
}

export class Places {
  private readonly folders: string[] = [];
  private server: EmbeddedPostgres | undefined;

  async open(engine: Engine): Promise<Place> {
    if (engine === 'sqlite') {
      const folder = mkdtempSync(join(tmpdir(), 'mwp-bench-'));
      this.folders.push(folder);
      return { engine, address: folder };
    }
    this.server ??= await startEmbeddedPostgres({ durable: true });
    const name = `bench_${randomUUID().replaceAll('-', '')}`;
    const sql = postgres(this.server.url, { max: 1 });
    await sql.unsafe(`CREATE DATABASE ${name}`);
    await sql.end();
    const url = new URL(this.server.url);
    url.pathname = name;
    return { engine, address: url.href };
  }

  async close(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
    for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  }
}

/** As `mwp serve` keeps it. */
export function sqliteFile({ address }: Place): string {
  return join(address, 'mwp.db');
}
