// Where a service under fault keeps its data, how it is told of it, and a look at that data past the service. On SQLite a
// look holds nothing of the file when it is over: a reader that stays would spare the next start its recovery.
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { readStorageConfig } from '../../src/config.ts';
import { openBlobs } from '../../src/storage.ts';
import type { BlobSpace, BlobStore } from '../../src/store/port/blobs.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { OPERATOR_TOKEN } from '../bench/serving.ts';
import { sqliteFile, type Engine, type Place } from '../bench/places.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { MASTER_KEY } from '../support/sealing.ts';

/** Rounds of collecting until libsql has let go of a file. */
const COLLECTIONS_MAXIMUM = 50;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export interface Look {
  behind: Behind;
  /** Its readers find what was sealed. */
  store: AuthorityStore;
  spaces: Record<BlobSpace, BlobStore>;
}

export class Ground {
  readonly place: Place;

  constructor(place: Place) {
    this.place = place;
  }

  get engine(): Engine {
    return this.place.engine;
  }

  /**
   * Blobs lie in files beside SQLite and inside PostgreSQL, so that both places are struck. `address`: another way to the same database.
   */
  environment(more: Record<string, string> = {}, address = this.place.address): Record<string, string> {
    return {
      MWP_PORT: '0',
      MWP_MASTER_KEY: MASTER_KEY.toString('base64'),
      MWP_OPERATOR_TOKEN: OPERATOR_TOKEN,
      MWP_LOG_LEVEL: 'error',
      ...(this.engine === 'sqlite' ? { MWP_DATA_DIR: address } : { DATABASE_URL: address, MWP_BLOBS: 'database' }),
      ...more,
    };
  }

  async look<Result>(work: (look: Look) => Promise<Result>): Promise<Result> {
    try {
      return await this.lookHoldingOn(work);
    } finally {
      if (this.engine === 'sqlite') await this.letGo(sqliteFile(this.place));
    }
  }

  private async lookHoldingOn<Result>(work: (look: Look) => Promise<Result>): Promise<Result> {
    const address = this.engine === 'sqlite' ? sqliteFile(this.place) : this.place.address;
    const behind = lookBehind({ store: { engine: this.engine } as AuthorityStore, address } as never);
    const store = await (this.engine === 'sqlite'
      ? openSqliteStore({ file: address })
      : openPostgresStore({ url: address, maxConnections: 2 }));
    try {
      const spaces = await openBlobs(readStorageConfig(this.environment()), store);
      const opened = withSealedBodies(store, spaces.segments, { again: false });
      return await work({ behind, store: opened, spaces });
    } finally {
      await store.close();
      await behind.close();
    }
  }

  private async letGo(file: string): Promise<void> {
    for (let round = 0; round < COLLECTIONS_MAXIMUM; round += 1) {
      collectGarbage();
      await new Promise((resolve) => setImmediate(resolve));
      if (!holdsOpen(file)) return;
    }
    throw new Error(`this process still holds ${file}`);
  }
}

/** Where the system does not say, it is believed. */
function holdsOpen(file: string): boolean {
  const folder = '/proc/self/fd';
  if (!existsSync(folder)) return false;
  return readdirSync(folder).some((descriptor) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`).startsWith(file);
    } catch {
      return false; // of the listing itself
    }
  });
}
