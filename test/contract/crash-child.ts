// Run by crash.test.ts in a process of its own: accepts transitions on a SQLite file, tells each one that was accepted,
// and is killed at some moment.
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { append, uuid } from './samples.ts';

const [file, organizationId, groupId] = process.argv.slice(2) as [string, OrganizationId, GroupId];
const store = await openSqliteStore({ file });
for (;;) {
  const document = { agentId: 'a', sessionEpoch: 1, filler: 'x'.repeat(20_000) };
  const written = await append(store, organizationId, groupId, {
    events: 3,
    policyEntries: 1,
    texts: [{ commitment: uuid(), value: '""' }],
    aggregates: [{ kind: 'session', id: uuid(), document }],
  });
  process.stdout.write(`${written.receipt.actionId}\n`);
}
