// Run by database-blobs.test.ts in a process of its own: puts a blob, tells that half of it is stored, and is killed.
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { CHUNK } from './blob-streams.ts';

const [engine, address, organizationId, millis] = process.argv.slice(2) as [string, string, OrganizationId, string];
const clock = () => Number(millis);
const store = await (engine === 'postgres'
  ? openPostgresStore({ url: address, clock })
  : openSqliteStore({ file: address, clock }));
await store.blobs('contents').put(organizationId, half());

async function* half(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(CHUNK, 'x');
  process.stdout.write('half\n');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}
