// Nothing crosses Organizations (design section 6): by row-level security on PostgreSQL, by the text of every statement on
// SQLite, and on both by what the store shows.
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import { RUNTIME_ROLE } from '../../src/store/postgres/open.ts';
import { bindsTenant, CROSS_TENANT_STATEMENTS, TENANT_STATEMENTS } from '../../src/store/sqlite/statements.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Behind } from './behind.ts';
import { lookBehind } from './behind.ts';
import { GROUP, countsOf, fillEveryTable, portraitOf } from './portrait.ts';
import { append, newTenant } from './samples.ts';

/** What becomes of a row that says that an audit is to be sealed. */
const SEAL_COLUMNS = [
  'blob_hash',
  'first_id',
  'format',
  'key_version',
  'last_id',
  'last_recorded_at',
  'purged_at',
  'records',
  'sealed_at',
  'state',
  'wrapped_key',
];

describe.each(STORES)('isolation on $name', ({ open }) => {
  let opened: OpenedStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  it('two tenants may use the same ids everywhere, and each sees its own rows only', async () => {
    const a = await fillEveryTable(opened.store, 'a');
    const before = await portraitOf(opened.store, a);
    expect(JSON.stringify(before)).not.toContain('"b"');
    const b = await fillEveryTable(opened.store, 'b');
    await append(opened.store, b, GROUP);
    expect(await portraitOf(opened.store, a)).toEqual(before);
    const counts = { streams: 2, transitions: 2, events: 2, aggregates: 1, texts: 1, policy_log: 1 };
    const withheld = { segments: 1, withheld: 2, renditions: 1 };
    const evidence = { group_snapshots: 2, commands: 2, documents: 1, admissions: 5, receipts: 2, ...withheld };
    expect(await countsOf(opened.store, a)).toEqual({ ...counts, ...evidence });
    expect(await countsOf(opened.store, b)).toMatchObject({ transitions: 3, events: 3, receipts: 3, streams: 2 });
    expect(await opened.store.organizations.consumeChallenge(b, 'urn:challenge:other', '2126-01-01T00:00:00Z')).toBe(
      true,
    );
    expect(await opened.store.organizations.consumeChallenge(a, 'urn:challenge:other', '2126-01-01T00:00:00Z')).toBe(
      true,
    );
  });

  it('a tenant without rows sees none of the others', async () => {
    await fillEveryTable(opened.store, 'c');
    const empty = await newTenant(opened.store);
    const portrait = (await portraitOf(opened.store, empty)) as Record<string, object>;
    expect(portrait['read']).toMatchObject({
      load: { aggregates: [] },
      page: [],
      streamIds: [],
      events: [],
      audit: [],
    });
    expect(portrait['locked']).toMatchObject({ admissions: [], loaded: { aggregates: [] }, heads: new Map() });
    expect(portrait['bindings']).toEqual([]);
  });

  it('the reads that cross tenants: by slug, and the list for the operator, page by page in the order of slugs', async () => {
    const { organizations } = opened.store;
    await fillEveryTable(opened.store, 'd');
    expect((await organizations.bySlug('d'))?.organizationId).toBe('https://d.example');
    expect(await organizations.bySlug('nobody')).toBeUndefined();
    const slugs = (await organizations.all('', 100)).map(({ slug }) => slug);
    expect(slugs).toEqual(slugs.toSorted());
    expect(slugs).toContain('d');
    expect((await organizations.all('c', 1)).map(({ slug }) => slug)).toEqual(['d']);
  });
});

describe('isolation by row-level security', () => {
  let opened: OpenedStore;
  let behind: Behind;
  let runtime: postgres.Sql;
  let a: OrganizationId;
  let b: OrganizationId;
  beforeAll(async () => {
    const { open } = STORES.find(({ name }) => name === 'postgres') as (typeof STORES)[number];
    opened = await open();
    behind = lookBehind(opened);
    runtime = postgres(opened.address, { max: 1, fetch_types: false, connection: { role: RUNTIME_ROLE } });
    a = await fillEveryTable(opened.store, 'a');
    b = await fillEveryTable(opened.store, 'b');
  });
  afterAll(async () => {
    await runtime.end();
    await behind.close();
    await opened.close();
  });

  it('every table holds rows of both tenants, and forces row-level security with one policy for all commands', async () => {
    const tables = await behind.tables();
    expect(tables).toHaveLength(29);
    for (const table of tables) {
      const [rows] = await behind.query(`SELECT count(DISTINCT organization_id) AS count FROM {${table}}`);
      expect([table, Number(rows?.['count'])]).toEqual([table, 2]);
    }
    const open = await behind.query(`SELECT relname FROM pg_class WHERE relnamespace = 'mwp'::regnamespace
      AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT (relrowsecurity AND relforcerowsecurity)`);
    expect(open).toEqual([]);
    const policies =
      await behind.query(`SELECT tablename, policyname, cmd, permissive, roles::text AS roles FROM pg_policies
      WHERE schemaname = 'mwp' AND policyname <> 'tenant'`);
    expect(policies).toEqual([
      {
        tablename: 'organizations',
        policyname: 'directory',
        cmd: 'SELECT',
        permissive: 'PERMISSIVE',
        roles: '{mwp_directory}',
      },
    ]);
  });

  it('a query without a tenant sees no row of any table', async () => {
    for (const table of await behind.tables()) {
      const [row] = await runtime.unsafe(`SELECT count(*) AS count FROM mwp.${table}`);
      expect([table, Number(row?.['count'])]).toEqual([table, 0]);
    }
    const one = JSON.stringify([{ kind: 'session', id: 'urn:session:same' }]);
    expect(
      await runtime`SELECT * FROM mwp.load_reads(${a}, ${'2026-01-01T00:00:00Z'}, ${one}::text::json, '[]', '[]')`,
    ).toEqual([]);
  });

  it('a query of one tenant sees no row of another, in any table, and none after its transaction', async () => {
    for (const table of await behind.tables()) {
      await runtime.begin(async (sql) => {
        await sql`SELECT set_config('mwp.organization', ${b}, true)`;
        const rows = await sql.unsafe(`SELECT DISTINCT organization_id FROM mwp.${table}`);
        expect([table, ...rows.map((row) => String(row['organization_id']))]).toEqual([table, b]);
      });
      const [row] = await runtime.unsafe(`SELECT count(*) AS count FROM mwp.${table}`);
      expect([table, Number(row?.['count'])]).toEqual([table, 0]);
    }
  });

  it('a tenant can write no row for another', async () => {
    const foreign = runtime.begin(async (sql) => {
      await sql`SELECT set_config('mwp.organization', ${b}, true)`;
      await sql`INSERT INTO mwp.texts VALUES (${a}, 'c', 'e', 'g', 'v')`;
    });
    await expect(foreign).rejects.toMatchObject({ code: '42501' });
  });

  it('outside an acceptance nothing is written, whatever Organization is named', async () => {
    const loose = runtime`SELECT mwp.write_batch(${a}, '[]', '[]', '[]', null, null, null, '[]', null, null, '[]', null)`;
    await expect(loose).rejects.toMatchObject({ code: 'MW004' });
  });

  it('the role of the service is neither owner nor superuser nor BYPASSRLS, and has exactly the rights it needs', async () => {
    const [role] =
      await behind.query(`SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles
      WHERE rolname = '${RUNTIME_ROLE}'`);
    expect(role).toEqual({
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolcanlogin: false,
    });
    const rights = await behind.query(`SELECT table_name || ' ' || privilege_type AS granted
      FROM information_schema.role_table_grants
      WHERE grantee = '${RUNTIME_ROLE}' AND table_schema = 'mwp' AND privilege_type NOT IN ('SELECT', 'INSERT') ORDER BY 1`);
    expect(rights.map((row) => row['granted'])).toEqual([
      'audit DELETE',
      'blob_pieces DELETE',
      'blobs DELETE',
      'challenges DELETE',
      'texts DELETE',
      'uploads DELETE',
    ]);
    const columns = await behind.query(`SELECT table_name || ' ' || column_name AS granted
      FROM information_schema.role_column_grants
      WHERE grantee = '${RUNTIME_ROLE}' AND table_schema = 'mwp' AND privilege_type = 'UPDATE' ORDER BY 1`);
    expect(columns.map((row) => row['granted'])).toEqual([
      'aggregates document',
      'aggregates hash',
      'aggregates holder',
      'aggregates parent',
      'aggregates state',
      'aggregates version',
      'blobs hash',
      'blobs kept_until_millis',
      'blobs size',
      'commands body',
      'documents body',
      'erasures blobs',
      'erasures removed_at',
      'erasures state',
      'erasures taken_at',
      'events body',
      'organizations registry_revision',
      ...SEAL_COLUMNS.map((column) => `sealed_audits ${column}`),
      'segments hash',
      'segments size',
      'streams chain_hash',
      'streams last_event_at',
      'streams log_hash',
      'streams policy_position',
      'streams position',
      'streams revision',
      'uploads recorded_at_millis',
      'uploads size',
      'uploads state',
    ]);
  });

  it('the functions that act for somebody else are the named cross-tenant reads, of a role that only reads', async () => {
    const definers = await behind.query(`SELECT proname, pg_get_userbyid(proowner) AS owner, proconfig::text AS config
      FROM pg_proc WHERE pronamespace = 'mwp'::regnamespace AND prosecdef ORDER BY proname`);
    expect(definers).toEqual([
      ...['organization_by_slug', 'organization_named', 'organizations_after', 'organizations_beyond'].map(
        (proname) => ({
          proname,
          owner: 'mwp_directory',
          config: '{"search_path=\\"\\""}',
        }),
      ),
    ]);
    const rights = await behind.query(`SELECT table_name || ' ' || privilege_type AS granted
      FROM information_schema.role_table_grants WHERE grantee = 'mwp_directory'`);
    expect(rights.map((row) => row['granted'])).toEqual(['organizations SELECT']);
    const open = await behind.query(`SELECT proname FROM pg_proc WHERE pronamespace = 'mwp'::regnamespace
      AND has_function_privilege('public', oid, 'EXECUTE')`);
    expect(open).toEqual([]);
  });
});

describe('isolation by the text of statements', () => {
  it('every statement of the SQLite store binds the Organization, but for the named cross-tenant reads', () => {
    expect(TENANT_STATEMENTS.length).toBeGreaterThan(50);
    for (const { name, text } of TENANT_STATEMENTS) expect([name, bindsTenant(text)]).toEqual([name, true]);
    expect(CROSS_TENANT_STATEMENTS.map(({ crossTenantName }) => crossTenantName).sort()).toEqual([
      'Organization by slug',
      'Organizations for the operator',
      'an Organization with this id or slug',
    ]);
  });

  it('a statement that forgets the Organization is noticed', () => {
    expect(bindsTenant('SELECT * FROM events WHERE event_id = ?1')).toBe(false);
    expect(bindsTenant('SELECT * FROM events WHERE organization_id = ?2')).toBe(false);
    expect(bindsTenant('SELECT organization_id FROM events')).toBe(false);
    expect(bindsTenant('INSERT INTO texts (commitment, organization_id) VALUES (?1, ?2)')).toBe(false);
  });

  it('no file of the SQLite store sends text that is not a registered statement, but for migrations, settings, the copy of a whole file and the lock of an empty one', () => {
    const folder = fileURLToPath(new URL('../../src/store/sqlite/', import.meta.url));
    const sending = readdirSync(folder).filter((name) =>
      /\.(rows|execute|exec|prepare)\(/.test(readFileSync(folder + name, 'utf8')),
    );
    expect(sending.sort()).toEqual(['backup.ts', 'connection.ts', 'migrate.ts', 'problems.ts', 'serving-lock.ts']);
  });
});
