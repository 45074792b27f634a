// Tenants and what belongs to them beside their Groups, on the hosted store. Sibling of sqlite/organizations.ts.
import { AUDIT_WAITING_MAXIMUM, FairQueue } from '../fair-queue.ts';
import type { OnLostAudit } from '../observer.ts';
import type { NewOrganization, OrganizationRow, OrganizationStore } from '../port.ts';
import type { PassPoint, RegistryChange, RegistryOutcome, SealRegistry } from '../port.ts';
import type { OrganizationRecord } from '../registry-records.ts';
import { organizationFromRecord, organizationToRecord } from '../registry-records.ts';
import { pageLimit } from '../bounded-reads.ts';
import { recordAudit } from './audit.ts';
import { consumeChallenge } from './challenges.ts';
import type { PostgresConnections } from './connections.ts';
import { TAKE_LOCK } from './connections.ts';
import { refusalOf } from './faults.ts';
import { currentPolicy } from './policies.ts';
import type { RegistryWrite } from './registry.ts';
import {
  bindings,
  keyEvidence,
  principals,
  registryChange,
  registryRevision,
  registrySince,
  sealedKeys,
} from './registry.ts';
import { organizations } from './schema.ts';
import type { Row, Statement, Value } from './session.ts';
import { CLOCK, columnsOf } from './statements.ts';
import type { Transaction } from './transaction.ts';

const INSERT = `INSERT INTO mwp.organizations
  SELECT $1, slug, display_name, created_at, authority_type, authority_id, identity_type, identity_id, registrar_type,
         registrar_id, 0
  FROM json_populate_record(NULL::mwp.organizations, $2::json)`;
const BY_SLUG = `SELECT ${columnsOf(organizations)} FROM mwp.organization_named($1)`;
const AFTER = `SELECT ${columnsOf(organizations)} FROM mwp.organizations_beyond($1, $2::bigint)`;

const TAKEN = ['organizations_pkey', 'organizations_slug'];

/** `clockMillis` absent: the database's own. */
export function organizationStore(
  connections: PostgresConnections,
  clock: { text: () => string; millis: () => number } | undefined,
  onLostAudit: OnLostAudit,
  seal: SealRegistry | undefined,
): OrganizationStore {
  const auditing = new FairQueue({ capacity: 1, waitingMaximum: AUDIT_WAITING_MAXIMUM });
  const write = (): RegistryWrite => ({ recordedAt: clock?.text(), seal });
  return {
    create: (created) => create(connections, created, write()),
    bySlug: async (slug) => (await organizationsOf(connections, BY_SLUG, [slug]))[0],
    all: (afterSlug, limit) => organizationsOf(connections, AFTER, [afterSlug, pageLimit(limit)]),
    changeRegistry: (organizationId, change) =>
      connections.write(organizationId, [exclusive(organizationId)], (transaction) =>
        changeUnderLock(transaction, { organizationId, change, write: write() }, connections.pass),
      ),
    principals: (organizationId, afterKey, limit) =>
      connections.read(organizationId, (transaction) =>
        principals(transaction, organizationId, afterKey, pageLimit(limit)),
      ),
    bindings: (organizationId, principal) =>
      connections.read(organizationId, (transaction) => bindings(transaction, organizationId, principal)),
    keyEvidence: (organizationId, keyIds) =>
      connections.read(organizationId, (transaction) => keyEvidence(transaction, organizationId, keyIds)),
    registrySince: (organizationId, revision) =>
      connections.read(organizationId, (transaction) => registrySince(transaction, organizationId, revision)),
    sealedKeys: (organizationId) =>
      connections.read(organizationId, (transaction) => sealedKeys(transaction, organizationId)),
    policy: (organizationId) =>
      connections.read(organizationId, (transaction) => currentPolicy(transaction, organizationId)),
    consumeChallenge: (organizationId, challengeId, expiresAt) =>
      consumeChallenge(connections, organizationId, challengeId, expiresAt, clock?.millis()),
    recordAudit: (organizationId, entry) =>
      auditing
        .run({ lane: organizationId }, () => recordAudit(connections, organizationId, clock?.text(), entry))
        .catch((cause: unknown) => onLostAudit(cause, { organizationId, ...entry })),
    now: async () => {
      if (clock) return clock.text();
      const [row] = await connections.readAcrossTenants((transaction) => transaction.query<{ now: string }>(CLOCK, []));
      return row?.now as string;
    },
  };
}

async function create(
  connections: PostgresConnections,
  created: NewOrganization,
  about: RegistryWrite,
): Promise<RegistryOutcome> {
  const { organization } = created;
  const { organizationId } = organization;
  const write = { ...about, organization };
  const insert = { text: INSERT, parameters: [organizationId, organizationToRecord(created.organization)] };
  try {
    return await connections.write(organizationId, [exclusive(organizationId), insert], (transaction) =>
      changeUnderLock(transaction, { organizationId, change: created, write }, connections.pass),
    );
  } catch (error) {
    if (TAKEN.includes(refusalOf(error)?.constraint ?? '')) {
      return { outcome: 'refused', reason: 'organization_exists' };
    }
    throw error;
  }
}

async function changeUnderLock(
  transaction: Transaction,
  { organizationId, change, write }: { organizationId: string; change: RegistryChange; write: RegistryWrite },
  pass: PassPoint,
): Promise<RegistryOutcome> {
  const ruling = await registryChange(transaction, organizationId, change, write);
  if (ruling.refused !== undefined) return { outcome: 'refused', reason: ruling.refused };
  pass('registry-locked');
  await transaction.run(ruling.statements);
  const revision = await registryRevision(transaction, organizationId);
  pass('registry-written');
  await transaction.commit();
  return { outcome: 'done', registryRevision: revision };
}

function exclusive(organizationId: string): Statement {
  return { text: TAKE_LOCK, parameters: [`organization ${organizationId}`, 'exclusive'] };
}

function organizationsOf(
  connections: PostgresConnections,
  text: string,
  parameters: Value[],
): Promise<OrganizationRow[]> {
  return connections.readAcrossTenants(async (transaction) =>
    (await transaction.query<Row & OrganizationRecord>(text, parameters)).map(organizationFromRecord),
  );
}
