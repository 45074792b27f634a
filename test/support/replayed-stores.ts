// The stores for suites whose rows come from a real authority: whatever Groups a test leaves behind, closing folds each
// one again from its stored Events and compares it with what is stored (design section 3). The contract suite writes
// rows by hand and takes its stores from databases.ts.
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { verifyEverything } from './verified.ts';
import { STORES as PLAIN, type OpenedStore, type OpenOptions, type StoreUnderTest } from './databases.ts';

export type { OpenedStore } from './databases.ts';

export const STORES: StoreUnderTest[] = PLAIN.map(({ name, open }) => ({
  name,
  open: async (options?: OpenOptions) => replayedAtClose(name, await open(options)),
}));

function replayedAtClose(name: StoreUnderTest['name'], opened: OpenedStore): OpenedStore {
  return {
    ...opened,
    close: async () => {
      try {
        await replayEverything(await openAgain(name, opened.address));
      } finally {
        await opened.close();
      }
    },
  };
}

/** A store of its own, because the test may have closed or broken the other one. */
function openAgain(name: StoreUnderTest['name'], address: string): Promise<AuthorityStore> {
  return name === 'sqlite'
    ? openSqliteStore({ file: address })
    : openPostgresStore({ url: address, maxConnections: 2 });
}

async function replayEverything(store: AuthorityStore): Promise<void> {
  try {
    for (const organization of await store.organizations.all('', 1_000)) {
      const faults = await verifyEverything(store, organization);
      if (faults.length > 0) throw new Error(`verify of ${organization.slug}: ${faults.join('; ')}`);
    }
  } finally {
    await store.close();
  }
}
