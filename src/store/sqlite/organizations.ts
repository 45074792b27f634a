// Tenants and what belongs to them beside their Groups, on the local store. Sibling of postgres/organizations.ts.
import { AUDIT_WAITING_MAXIMUM, FairQueue } from '../fair-queue.ts';
import type { OnLostAudit } from '../observer.ts';
import type { NewOrganization, OrganizationRow, OrganizationStore, RegistryOutcome, SealRegistry } from '../port.ts';
import type { OrganizationRecord } from '../registry-records.ts';
import { organizationFromRecord, organizationToRecord } from '../registry-records.ts';
import { pageLimit } from '../bounded-reads.ts';
import { recordAudit } from './audit.ts';
import { consumeChallenge } from './challenges.ts';
import type { SqliteConnection, Value } from './connection.ts';
import type { SqliteConnections } from './connections.ts';
import { currentPolicy } from './policies.ts';
import type { RegistryWrite } from './registry.ts';
import {
  bindings,
  changeRegistry,
  keyEvidence,
  principals,
  registryRevision,
  registrySince,
  sealedKeys,
} from './registry.ts';
import { crossTenantStatement, insertStatement } from './statements.ts';

const COLUMNS =
  'slug display_name created_at authority_type authority_id identity_type identity_id registrar_type registrar_id'.split(
    ' ',
  );
const INSERT = insertStatement('organizations', [...COLUMNS, 'registry_revision']);
const EXISTS = crossTenantStatement(
  'an Organization with this id or slug',
  'SELECT 1 FROM organizations WHERE organization_id = ?1 OR slug = ?2',
);
const BY_SLUG = crossTenantStatement('Organization by slug', 'SELECT * FROM organizations WHERE slug = ?1');
const AFTER = crossTenantStatement(
  'Organizations for the operator',
  'SELECT * FROM organizations WHERE slug > ?1 ORDER BY slug LIMIT ?2',
);

/** Cross-tenant reads stand in a lane of their own. */
const DIRECTORY = '';
const AUDIT_LANE = ' audit';

export function organizationStore(
  connections: SqliteConnections,
  clock: () => string,
  onLostAudit: OnLostAudit,
  seal: SealRegistry | undefined,
): OrganizationStore {
  const auditing = new FairQueue({ capacity: 1, waitingMaximum: AUDIT_WAITING_MAXIMUM });
  return {
    create: (organization) =>
      connections.write(organization.organization.organizationId, async (connection) => {
        connections.pass('registry-locked');
        const result = create(connection, organization, { recordedAt: clock(), seal });
        connections.pass('registry-written');
        return { commit: result.outcome === 'done', result };
      }),
    bySlug: (slug) => connections.read(DIRECTORY, async (connection) => organizationsOf(connection, BY_SLUG, slug)[0]),
    all: (afterSlug, limit) =>
      connections.read(DIRECTORY, async (connection) =>
        organizationsOf(connection, AFTER, afterSlug, pageLimit(limit)),
      ),
    changeRegistry: (organizationId, change) =>
      connections.write(organizationId, async (connection) => {
        connections.pass('registry-locked');
        const refused = changeRegistry(connection, organizationId, change, { recordedAt: clock(), seal });
        if (refused !== undefined) return { commit: false, result: { outcome: 'refused', reason: refused } };
        connections.pass('registry-written');
        return { commit: true, result: done(connection, organizationId) };
      }),
    principals: (organizationId, afterKey, limit) =>
      connections.read(organizationId, async (connection) =>
        principals(connection, organizationId, afterKey, pageLimit(limit)),
      ),
    bindings: (organizationId, principal) =>
      connections.read(organizationId, async (connection) => bindings(connection, organizationId, principal)),
    keyEvidence: (organizationId, keyIds) =>
      connections.read(organizationId, async (connection) => keyEvidence(connection, organizationId, keyIds)),
    registrySince: (organizationId, revision) =>
      connections.read(organizationId, async (connection) => registrySince(connection, organizationId, revision)),
    sealedKeys: (organizationId) =>
      connections.read(organizationId, async (connection) => sealedKeys(connection, organizationId)),
    policy: (organizationId) =>
      connections.read(organizationId, async (connection) => currentPolicy(connection, organizationId)),
    consumeChallenge: (organizationId, challengeId, expiresAt) =>
      connections.write(organizationId, async (connection) => ({
        commit: true,
        result: consumeChallenge(connection, organizationId, challengeId, expiresAt, clock()),
      })),
    recordAudit: (organizationId, entry) =>
      auditing
        .run({ lane: organizationId }, () =>
          connections.writeRelaxed(AUDIT_LANE, (connection) => recordAudit(connection, organizationId, clock(), entry)),
        )
        .catch((cause: unknown) => onLostAudit(cause, { organizationId, ...entry })),
    now: async () => clock(),
  };
}

function create(connection: SqliteConnection, created: NewOrganization, write: RegistryWrite): RegistryOutcome {
  const { organizationId, slug } = created.organization;
  if (connection.allAcrossTenants(EXISTS, organizationId, slug).length > 0) {
    return { outcome: 'refused', reason: 'organization_exists' };
  }
  const record = organizationToRecord(created.organization) as unknown as Record<string, Value>;
  connection.run(INSERT, organizationId, ...COLUMNS.map((column) => record[column] ?? null), 0);
  const { organization } = created;
  const refused = changeRegistry(connection, organizationId, created, { ...write, organization });
  return refused === undefined ? done(connection, organizationId) : { outcome: 'refused', reason: refused };
}

function done(connection: SqliteConnection, organizationId: string): RegistryOutcome {
  return { outcome: 'done', registryRevision: registryRevision(connection, organizationId) };
}

function organizationsOf(
  connection: SqliteConnection,
  statement: typeof BY_SLUG,
  ...values: Value[]
): OrganizationRow[] {
  return connection.allAcrossTenants<OrganizationRecord>(statement, ...values).map(organizationFromRecord);
}
