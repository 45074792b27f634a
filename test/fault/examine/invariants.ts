// What holds in every state, whatever happened: one live lease of a kind, an owner for what is executed, budgets that add
// up, an audit record without gaps, whole Organizations. And the state is what the Events say.
import type { SnapshotBlobs } from '../../../src/archive/snapshot/ports.ts';
import { DIMENSIONS } from '../../../src/domain/budget.ts';
import type { BudgetAccountAggregate, WorkItemAggregate } from '../../../src/domain/aggregates.ts';
import { AUDIT_MAXIMUM, AUDIT_TIDIED_EVERY, type AuthorityStore } from '../../../src/store/port.ts';
import { verified } from '../../support/verified.ts';
import type { Behind } from '../../contract/behind.ts';
import { countBy, rowsOf } from './sql.ts';

interface Aggregate {
  organization_id: string;
  id: string;
  document: unknown;
}

export async function examineLeases(behind: Behind): Promise<string[]> {
  const leases = await rowsOf<{ name: string; count: number }>(
    behind,
    `SELECT coalesce(parent, document ->> 'missionId') AS name, document ->> 'leaseType' AS type, count(*) AS count
     FROM {aggregates} WHERE kind = 'lease' AND state = 'active' GROUP BY organization_id, 1, 2 HAVING count(*) > 1`,
  );
  const faults = leases.map(({ name, count }) => `${name}: ${count} live leases of one kind`);
  const items = await rowsOf<Aggregate>(
    behind,
    `SELECT organization_id, id, document FROM {aggregates} WHERE kind = 'work_item' AND state = 'active'`,
  );
  const live = await rowsOf<{ name: string }>(
    behind,
    `SELECT organization_id || ' ' || id AS name FROM {aggregates} WHERE kind = 'lease' AND state = 'active'`,
  );
  const ids = new Set(live.map(({ name }) => name));
  for (const { organization_id, id, document } of items) {
    const { workItem, details } = parsed<WorkItemAggregate>(document);
    const needed = [workItem.owner?.ownershipLeaseId, details.executionLeaseId];
    if (needed.every((leaseId) => leaseId !== undefined && ids.has(`${organization_id} ${leaseId}`))) continue;
    faults.push(`${id}: active without its two leases`);
  }
  return faults;
}

export async function examineBudgets(behind: Behind): Promise<string[]> {
  const rows = await rowsOf<Aggregate>(
    behind,
    `SELECT organization_id, id, document FROM {aggregates} WHERE kind = 'budget_account'`,
  );
  const accounts = rows.map(({ document }) => parsed<BudgetAccountAggregate>(document));
  const children = countBy(accounts, ({ parentAccountId }) => parentAccountId ?? '');
  const faults: string[] = [];
  for (const account of accounts) {
    for (const dimension of DIMENSIONS) {
      const below = children.get(account.accountId) ?? [];
      const allocated = below
        .filter(({ state }) => state !== 'released')
        .reduce((sum, child) => sum + (child.limit[dimension] ?? 0), 0);
      const of = `${account.accountId} ${dimension}`;
      if (account.usage[dimension] + account.allocated[dimension] > (account.limit[dimension] ?? 0)) {
        faults.push(`${of}: usage and allocation exceed the limit`);
      }
      if (allocated > account.allocated[dimension]) faults.push(`${of}: children hold more than is allocated`);
    }
  }
  return faults;
}

export async function examineOrganizations(behind: Behind): Promise<string[]> {
  const rows = await rowsOf<{ name: string }>(
    behind,
    `SELECT o.slug AS name FROM {organizations} o WHERE
       (SELECT count(*) FROM {sealed_keys} s WHERE s.organization_id = o.organization_id) <> 3
       OR NOT EXISTS (SELECT 1 FROM {policies} p WHERE p.organization_id = o.organization_id)
       OR (SELECT coalesce(max(version) - min(version) + 1, 0) FROM {policies} p WHERE p.organization_id = o.organization_id)
          <> (SELECT count(*) FROM {policies} p WHERE p.organization_id = o.organization_id)
       OR EXISTS (SELECT 1 FROM (SELECT max(last) AS last, sum(n) AS n, max(plain) AS plain FROM (
                    SELECT max(id) AS last, count(*) AS n, count(*) AS plain FROM {audit} a
                    WHERE a.organization_id = o.organization_id
                    UNION ALL SELECT max(last_id), coalesce(sum(records), 0), 0 FROM {sealed_audits} s
                    WHERE s.organization_id = o.organization_id AND s.state = 'sealed') AS kept) AS found
                  WHERE plain > ${AUDIT_MAXIMUM} OR (last < ${AUDIT_MAXIMUM - AUDIT_TIDIED_EVERY} AND n <> last))`,
  );
  return rows.map(({ name }) => `${name}: an Organization by half, or a gap in its policies or audit record`);
}

/** What is to be sealed is there as it was; of what is sealed nothing is plain. */
export async function examineSeals(behind: Behind): Promise<string[]> {
  const plain = `SELECT count(*) FROM {audit} a WHERE a.organization_id = s.organization_id AND a.group_id = s.group_id
    AND a.id >= s.first_id AND a.id <= s.last_id`;
  const rows = await rowsOf<{ name: string }>(
    behind,
    `SELECT s.group_id AS name FROM {sealed_audits} s
     WHERE (${plain}) <> CASE s.state WHEN 'due' THEN s.records ELSE 0 END`,
  );
  return rows.map(({ name }) => `${name}: its audit is neither all plain nor all sealed`);
}

/** Every stream of every Organization, from its Events alone. Answers how many Events there were. */
export async function examineReplay(
  store: AuthorityStore,
  snapshots: SnapshotBlobs,
): Promise<{ events: number; faults: string[] }> {
  const found = { events: 0, faults: [] as string[] };
  for (let after = ''; ;) {
    const page = await store.organizations.all(after, 200);
    for (const organization of page) {
      const { events, faults } = await verified(store, organization, snapshots);
      found.events += events;
      found.faults.push(...faults.map((fault) => `verify of ${organization.slug}: ${fault}`));
    }
    const last = page.at(-1);
    if (!last) return found;
    after = last.slug;
  }
}

function parsed<Document>(document: unknown): Document {
  return (typeof document === 'string' ? JSON.parse(document) : document) as Document;
}
