// `mwp scrub`: the last step of an erasure, for whom the service cannot take it.
import { scrubRemoved } from '../archive/erasure/erasures.ts';
import { readStorageConfig } from '../config.ts';
import { openConfiguredStore } from '../storage.ts';
import { scrubPostgres } from '../store/postgres/scrub.ts';
import type { AuthorityStore, OrganizationRow } from '../store/port.ts';
import { DONE, print, readOptions, type CliCommand } from './command-line.ts';

/** Organizations read in one go. */
const PAGE = 100;

export const scrub: CliCommand = {
  name: 'scrub',
  summary: 'rewrite a database without what it keeps of erased bytes',
  help: `mwp scrub

Rewrites what the database keeps of the bytes that erasures have deleted, and notes these erasures as scrubbed. On SQLite the
service does it by itself. On PostgreSQL, DATABASE_URL must lead to the owner of the database and its tables, to whom was granted
pg_monitor, pg_checkpoint and EXECUTE on pg_switch_wal. Each table is locked while it is rewritten, and needs its size once more
on the disk and in the log meanwhile. Archives of the log, replicas and backups are not reached.`,

  async run(args) {
    readOptions(args, {});
    const config = readStorageConfig(process.env);
    const { database } = config;
    const done =
      database.engine === 'postgres'
        ? await scrubPostgres(database.url, print)
        : await scrubLocal(await openConfiguredStore(config));
    print(`${done} erasures scrubbed`);
    return DONE;
  },
};

async function scrubLocal(store: AuthorityStore): Promise<number> {
  try {
    let done = 0;
    await scrubRemoved({ store }, await allOrganizations(store), { done: () => void (done += 1) });
    return done;
  } finally {
    await store.close();
  }
}

async function allOrganizations({ organizations }: AuthorityStore): Promise<OrganizationRow[]> {
  const all: OrganizationRow[] = [];
  for (;;) {
    const page = await organizations.all(all.at(-1)?.slug ?? '', PAGE);
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
