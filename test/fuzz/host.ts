// The service under fire: composed as `mwp serve` composes it, on a database of its own, asked in process and over a real
// port. What it logs is looked at, too: a line of level error, or one that holds what no log may hold, is a finding.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { listen } from '../../src/http/listen.ts';
import { composeService } from '../../src/main.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { behindDatabase, type Behind } from '../contract/behind.ts';
import { MASTER_KEY } from '../support/sealing.ts';

export type Engine = 'sqlite' | 'postgres';

export const OPERATOR_TOKEN = 'an-operator-token-for-fuzzing';
/** Stands in texts that are sent; no log line may repeat it. */
export const CONTENT_MARK = 'what-was-said-in-confidence';

const WARNING_LEVEL = 40;

export interface Host {
  engine: Engine;
  store: AuthorityStore;
  /** Answers without a network. */
  fetch: (request: Request) => Response | Promise<Response>;
  port: number;
  behind: Behind;
  /** What was logged since the last call and should not have been. */
  complaints: () => string[];
  close: () => Promise<void>;
}

export async function openHost(engine: Engine): Promise<Host> {
  const place = await openPlace(engine);
  const complaints: string[] = [];
  const logger = createLogger('info', { write: (line) => void complaints.push(...complaintsOf(line)) });
  const config = readConfig({
    MWP_DATA_DIR: place.folder,
    MWP_MASTER_KEY: MASTER_KEY.toString('base64'),
    MWP_OPERATOR_TOKEN: OPERATOR_TOKEN,
    MWP_PORT: '0',
    ...(place.url !== undefined && { DATABASE_URL: place.url }),
  });
  const composed = await composeService(config, { logger });
  const listening = await listen(composed.app.fetch, config);
  composed.lifecycle.started({ name: 'the HTTP server', stop: () => listening.close() });
  const behind = behindDatabase(engine, place.url ?? join(place.folder, 'mwp.db'));
  return {
    engine,
    store: composed.store,
    fetch: (request) => composed.app.fetch(request),
    port: Number(new URL(listening.url).port),
    behind,
    complaints: () => complaints.splice(0),
    close: async () => {
      await behind.close();
      await composed.lifecycle.stop();
      await place.remove();
    },
  };
}

function complaintsOf(line: string): string[] {
  const found: string[] = [];
  const { level, msg } = JSON.parse(line) as { level: number; msg: string };
  if (level >= WARNING_LEVEL) found.push(`logged: ${line.slice(0, 2_000)}`);
  for (const secret of [OPERATOR_TOKEN, CONTENT_MARK, 'eyJ']) {
    if (line.includes(secret)) found.push(`a log line (${msg}) holds ${secret.slice(0, 12)}…`);
  }
  return found;
}

interface Place {
  folder: string;
  url?: string;
  remove: () => Promise<void>;
}

/** Linux keeps what is here in memory: each refusal is an audit record, and a disk would take most of the time. */
const MEMORY_FOLDER = '/dev/shm';

async function openPlace(engine: Engine): Promise<Place> {
  const parent = engine === 'sqlite' && existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
  const folder = mkdtempSync(join(parent, 'mwp-fuzz-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  if (engine === 'sqlite') return { folder, remove: async () => removeFolder() };
  const server = await startEmbeddedPostgres();
  const sql = postgres(server.url, { max: 1 });
  await sql.unsafe('CREATE DATABASE fuzz');
  await sql.end();
  const url = new URL(server.url);
  url.pathname = 'fuzz';
  const remove = async () => {
    await server.stop();
    removeFolder();
  };
  return { folder, url: url.href, remove };
}
