// Who is registered with which key: the uniqueness rules, append-only validity, the policy's versions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { RegistryChange } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import { AGENT, HUMAN, binding, newOrganization, newTenant, planFor } from './samples.ts';

const KEY = 'k'.repeat(43);
const RECORDED = '2026-06-01T00:00:00.000Z';

describe.each(STORES)('registry on $name', ({ open }) => {
  let opened: OpenedStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  /** A tenant whose agent has one key. */
  async function registered(): Promise<OrganizationId> {
    const org = await newTenant(opened.store);
    await change(org, {
      principals: [
        { principal: AGENT, displayName: 'agent' },
        { principal: HUMAN, displayName: 'human' },
      ],
      bindings: [binding(AGENT, 'urn:key:1', KEY)],
    });
    return org;
  }
  const change = (org: OrganizationId, what: RegistryChange) => opened.store.organizations.changeRegistry(org, what);
  const evidence = async (org: OrganizationId, keyId: string) =>
    (await opened.store.organizations.keyEvidence(org, [keyId])).get(keyId);

  it('an Organization is created once: neither its id nor its slug can be taken again', async () => {
    const { organizations } = opened.store;
    const first = newOrganization();
    expect(await organizations.create(first)).toEqual({ outcome: 'done', registryRevision: 1 });
    expect(await organizations.bySlug(first.organization.slug)).toEqual(first.organization);
    const refused = { outcome: 'refused', reason: 'organization_exists' };
    expect(await organizations.create(first)).toEqual(refused);
    const second = newOrganization();
    const sameSlug = { ...second.organization, slug: first.organization.slug };
    const sameId = { ...second.organization, organizationId: first.organization.organizationId };
    expect(await organizations.create({ ...second, organization: sameSlug })).toEqual(refused);
    expect(await organizations.create({ ...second, organization: sameId })).toEqual(refused);
    expect(await organizations.bySlug(second.organization.slug)).toBeUndefined();
  });

  it('of ten creations of one Organization at once, one is done', async () => {
    const wanted = newOrganization();
    const answers = await Promise.all(Array.from({ length: 10 }, () => opened.store.organizations.create(wanted)));
    expect(answers.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
  });

  it('an Organization whose own rows are refused is not created', async () => {
    const wanted = { ...newOrganization(), principals: [] };
    expect(await opened.store.organizations.create(wanted)).toEqual({
      outcome: 'refused',
      reason: 'principal_unknown',
    });
    expect(await opened.store.organizations.bySlug(wanted.organization.slug)).toBeUndefined();
  });

  it('MWP-SDV-004a: a key id is never bound again; repeating the identical declaration is the same binding', async () => {
    const org = await registered();
    const again = await change(org, { bindings: [binding(AGENT, 'urn:key:1', KEY)] });
    expect(again).toEqual({ outcome: 'done', registryRevision: 2 });
    const refused = { outcome: 'refused', reason: 'key_id_bound' };
    expect(await change(org, { bindings: [binding(AGENT, 'urn:key:1', 'x'.repeat(43))] })).toEqual(refused);
    expect(await change(org, { bindings: [binding(HUMAN, 'urn:key:1', KEY)] })).toEqual(refused);
    const later = { ...binding(AGENT, 'urn:key:1', KEY), validFrom: '2026-01-02T00:00:00Z' };
    expect(await change(org, { bindings: [later] })).toEqual(refused);
    expect((await evidence(org, 'urn:key:1'))?.binding).toEqual(binding(AGENT, 'urn:key:1', KEY));
  });

  it('MWP-SDV-004c: one public key sits under one key id and one principal', async () => {
    const org = await registered();
    const refused = { outcome: 'refused', reason: 'public_key_bound' };
    expect(await change(org, { bindings: [binding(AGENT, 'urn:key:2', KEY)] })).toEqual(refused);
    expect(await change(org, { bindings: [binding(HUMAN, 'urn:key:2', KEY)] })).toEqual(refused);
    const twice = [binding(AGENT, 'urn:key:3', 'n'.repeat(43)), binding(HUMAN, 'urn:key:4', 'n'.repeat(43))];
    expect(await change(org, { bindings: twice })).toEqual(refused);
    expect(await opened.store.organizations.bindings(org, AGENT)).toEqual([binding(AGENT, 'urn:key:1', KEY)]);
    const elsewhere = await newTenant(opened.store);
    const principals = [{ principal: AGENT, displayName: 'agent' }];
    const other = await change(elsewhere, { principals, bindings: [binding(AGENT, 'urn:key:2', KEY)] });
    expect(other).toMatchObject({ outcome: 'done' });
  });

  it('MWP-SDV-004c: of ten aliases of one public key declared at once, one is bound', async () => {
    const org = await registered();
    const key = 'r'.repeat(43);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) => change(org, { bindings: [binding(HUMAN, `urn:key:r${turn}`, key)] })),
    );
    expect(answers.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect(await opened.store.organizations.bindings(org, HUMAN)).toHaveLength(1);
  });

  it('a principal is registered once, and before its keys', async () => {
    const org = await registered();
    expect(await change(org, { principals: [{ principal: AGENT, displayName: 'again' }] })).toEqual({
      outcome: 'refused',
      reason: 'principal_exists',
    });
    const stranger = { type: 'agent' as const, id: 'urn:agent:stranger' };
    expect(await change(org, { bindings: [binding(stranger, 'urn:key:s', 's'.repeat(43))] })).toEqual({
      outcome: 'refused',
      reason: 'principal_unknown',
    });
    expect(
      await change(org, { validity: [{ keyId: 'urn:key:s', recordedAt: RECORDED, revokedAt: RECORDED }] }),
    ).toEqual({
      outcome: 'refused',
      reason: 'key_unknown',
    });
  });

  it('a refused change leaves nothing, also not the rows before the refused one', async () => {
    const org = await registered();
    const stranger = { type: 'agent' as const, id: 'urn:agent:stranger' };
    await change(org, {
      principals: [{ principal: stranger, displayName: 'stranger' }],
      bindings: [binding(stranger, 'urn:key:s', KEY)],
    });
    const names = (await opened.store.organizations.principals(org, '', 10)).map(({ displayName }) => displayName);
    expect(names).not.toContain('stranger');
    expect((await evidence(org, 'urn:key:1'))?.registryRevision).toBe(2);
  });

  it('MWP-SDV-012a, MWP-SDV-012b: an end of validity is set or brought forward, never back; the history stays', async () => {
    const org = await registered();
    const record = (ends: { validUntil?: string; revokedAt?: string }) =>
      change(org, { validity: [{ keyId: 'urn:key:1', recordedAt: RECORDED, ...ends }] });
    const refused = { outcome: 'refused', reason: 'validity_not_earlier' };
    expect(await record({})).toEqual(refused);
    expect(await record({ validUntil: '2027-01-01T00:00:00Z' })).toEqual({ outcome: 'done', registryRevision: 3 });
    expect(await record({ validUntil: '2027-01-01T00:00:00.000Z' })).toEqual(refused);
    expect(await record({ validUntil: '2027-01-01T01:00:00.001+01:00' })).toEqual(refused);
    expect(await record({ validUntil: '2027-01-01T01:00:00-01:00' })).toEqual(refused);
    expect(await record({ validUntil: '2026-12-31T23:59:59.9999999Z' })).toMatchObject({ outcome: 'done' });
    const both = { validUntil: '2026-12-31T23:59:59.9999999Z', revokedAt: '2026-12-01T00:00:00Z' };
    expect(await record(both)).toEqual({ outcome: 'done', registryRevision: 5 });
    expect((await evidence(org, 'urn:key:1'))?.validity).toEqual([
      { keyId: 'urn:key:1', sequence: 1, recordedAt: RECORDED, validUntil: '2027-01-01T00:00:00Z' },
      { keyId: 'urn:key:1', sequence: 2, recordedAt: RECORDED, validUntil: '2026-12-31T23:59:59.9999999Z' },
      { keyId: 'urn:key:1', sequence: 3, recordedAt: RECORDED, ...both },
    ]);
  });

  it('an unknown key is proven absent, at the revision that knows no such key', async () => {
    const org = await registered();
    expect(await evidence(org, 'urn:key:none')).toEqual({ registryRevision: 2, validity: [] });
  });

  it('principals come page by page, in the order of type and id', async () => {
    const org = await registered();
    const { organizations } = opened.store;
    const first = await organizations.principals(org, '', 2);
    expect(first.map(({ principal }) => principal.id)).toEqual([AGENT.id, HUMAN.id]);
    const rest = await organizations.principals(org, `${HUMAN.type} ${HUMAN.id}`, 2);
    expect(rest.map(({ principal }) => principal.id)).toEqual(['urn:service:authority']);
  });

  it('sealed keys belong to a bound key', async () => {
    const org = await registered();
    const sealed = { keyId: 'urn:key:1', principal: AGENT, sealed: 'box' };
    expect(await change(org, { sealedKeys: [{ ...sealed, keyId: 'urn:key:none' }] })).toMatchObject({
      reason: 'key_unknown',
    });
    expect(await change(org, { sealedKeys: [sealed] })).toEqual({ outcome: 'done', registryRevision: 2 });
    expect(await opened.store.organizations.sealedKeys(org)).toContainEqual(sealed);
  });

  it('a policy has a version above the one before, and rules at once, as a revision of the registry', async () => {
    const org = await registered();
    const policy = { ...DEFAULT_POLICY, version: 2, resumeWindowSeconds: 1 };
    expect(await change(org, { policy })).toEqual({ outcome: 'done', registryRevision: 3 });
    expect(await opened.store.organizations.policy(org)).toEqual(policy);
    await expect(change(org, { policy })).rejects.toMatchObject({ kind: 'conflict' });
    await opened.store.acceptTransition(org, planFor([]), async (now) => {
      expect(now.policy).toEqual(policy);
      return { result: undefined };
    });
    await opened.store.read(org, async (reader) => expect(await reader.policy()).toEqual(policy));
  });
});
