// Stage 4 in a running service: the whole Registry or nothing, current for whatever is new, and alike on the wire.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Submission } from '../../src/authority/ports.ts';
import { registryHash } from '../../src/wire/registry-log.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('evidence of the Registry on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let owner: ActorKey;
  let mission: Mission;
  let conversationId: string;

  beforeEach(async () => {
    opened = await open();
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store);
    owner = await tenant.human('olga');
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    const [conversation] = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    conversationId = conversation?.id ?? '';
  });
  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  const where = () => `organization_id = '${tenant.organization.organizationId}'`;

  /** As an administrator of the database could: past the triggers that keep everybody else out. */
  async function tamper(statement: string): Promise<void> {
    if (name === 'postgres') {
      await behind.query(`BEGIN; SET LOCAL session_replication_role = replica; ${statement}; COMMIT`);
      return;
    }
    const triggers = await behind.query(
      `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('registry_log', 'organizations')`,
    );
    for (const trigger of triggers) await behind.query(`DROP TRIGGER ${String(trigger['name'])}`);
    await behind.query(statement);
    for (const trigger of triggers) await behind.query(String(trigger['sql']));
  }

  /** Through a process that has not read this Registry yet, or through one that has. */
  function submitVia(authority: Tenant['authority'], key = owner): Promise<Submission> {
    const content = [{ type: 'text', text: 'Hello' }];
    const draft = mission.draft('message.post', { messageId: id(), conversationId, content });
    return tenant.submitBytes(tenant.sign(key, draft, mission.epochsOf(key)), key.principal, authority);
  }
  const fresh = () => tenant.anotherAuthority(opened.store);

  async function lastReason(): Promise<string | undefined> {
    const rows = await opened.store.read(tenant.organization.organizationId, (reader) => reader.audit(0, 1_000));
    const last = rows.at(-1);
    return last && `${last.stage} ${last.reason}`;
  }

  /** The answer without what is the request's own. */
  function wire(answer: Submission): unknown {
    if (answer.accepted) return 'accepted';
    const { occurredAt: _time, relatedActionId: _action, ...rest } = answer;
    return rest;
  }

  it('MWP-SDV-008: one altered record of somebody else fails a good document at stage 4, in every process that reads it', async () => {
    await tenant.human('unrelated');
    const row = `UPDATE {registry_log} SET changes = replace(changes, 'human:unrelated', 'human:Unrelated') WHERE ${where()}`;
    await tamper(row);
    expect(wire(await submitVia(fresh()))).toMatchObject({ refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
    expect(await lastReason()).toMatch(/^key-resolution evidence-corrupt: the chain breaks at revision/);
    expect(tenant.alarms.join()).toMatch(/cannot be believed/);
    await tamper(
      `UPDATE {registry_log} SET changes = replace(changes, 'human:Unrelated', 'human:unrelated') WHERE ${where()}`,
    );
    expect(wire(await submitVia(fresh()))).toBe('accepted');
  });

  it('MWP-SDV-009: a log that ends before the revision of the Registry proves nothing absent', async () => {
    await tenant.human('last');
    const last = `revision = (SELECT max(revision) FROM {registry_log} WHERE ${where()})`;
    await tamper(`DELETE FROM {registry_log} WHERE ${where()} AND ${last}`);
    expect(wire(await submitVia(fresh()))).toMatchObject({ refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
    expect(await lastReason()).toMatch(/^key-resolution evidence-incomplete: the log ends at \d+ of \d+/);
  });

  it('MWP-SDV-011: an absent key, a corrupt Registry and an incomplete one are one answer with three reasons', async () => {
    const answers = [wire(await submitVia(fresh(), generateActorKey(owner.principal)))];
    const reasons = [await lastReason()];
    await tenant.human('last');
    const last = `revision = (SELECT max(revision) FROM {registry_log} WHERE ${where()})`;
    await tamper(`UPDATE {registry_log} SET recorded_at = 'x' WHERE ${where()} AND ${last}`);
    answers.push(wire(await submitVia(fresh())));
    reasons.push(await lastReason());
    await tamper(`DELETE FROM {registry_log} WHERE ${where()} AND ${last}`);
    answers.push(wire(await submitVia(fresh())));
    reasons.push(await lastReason());
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
    expect(reasons.map((reason) => reason?.split(/[: ]/, 2).join(' '))).toEqual([
      'key-resolution key-unknown',
      'key-resolution evidence-corrupt',
      'key-resolution evidence-incomplete',
    ]);
  });

  it('MWP-SDV-010b: of many Commands at once under a key that is new to a process none is refused for it', async () => {
    const authority = fresh();
    expect(wire(await submitVia(authority))).toBe('accepted');
    const newcomer = await tenant.human('newcomer');
    await mission.accept(owner, 'membership.change', { principal: newcomer.principal, roles: ['observer'] });
    const at = await Promise.all([1, 2, 3, 4, 5, 6].map(() => submitVia(authority, newcomer)));
    expect(at.map(wire)).toEqual(at.map(() => 'accepted'));
  });

  it('MWP-SDV-010b: a process that read the Registry before a revocation admits nothing new under the key', async () => {
    const authority = fresh();
    expect(wire(await submitVia(authority))).toBe('accepted');
    const revokedAt = new Date(Date.now() - 60_000).toISOString();
    const validity = [{ keyId: owner.keyId, recordedAt: await opened.store.organizations.now(), revokedAt }];
    await opened.store.organizations.changeRegistry(tenant.organization.organizationId, { validity });
    expect(wire(await submitVia(authority))).toMatchObject({ refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
    expect(await lastReason()).toBe('key-resolution key-revoked');
  });

  it('MWP-SDV-010b: a key that was bound a moment ago counts in a process that read the Registry before', async () => {
    const authority = fresh();
    expect(wire(await submitVia(authority))).toBe('accepted');
    const second = generateActorKey(owner.principal);
    const { keyId, principal, publicKey } = second;
    const bindings = [
      { keyId, principal, algorithm: 'Ed25519' as const, publicKey, validFrom: '2026-01-01T00:00:00Z' },
    ];
    await opened.store.organizations.changeRegistry(tenant.organization.organizationId, { bindings });
    expect(wire(await submitVia(authority, second))).toBe('accepted');
  });

  it('MWP-SDV-007: who can write to the database but does not hold the master key binds no key', async () => {
    const intruder = generateActorKey(owner.principal);
    const { keyId, principal, publicKey } = intruder;
    const { organizationId } = tenant.organization;
    const { registryRevision, entries } = await opened.store.organizations.registrySince(organizationId, 0);
    const bindings = [{ keyId, principal, algorithm: 'Ed25519', publicKey, validFrom: '2026-01-01T00:00:00Z' }];
    const entry = { revision: registryRevision + 1, recordedAt: 'x', changes: canonicalText({ bindings }) };
    const hash = registryHash(organizationId, entries.at(-1)?.hash, entry);
    await tamper(`INSERT INTO {registry_log} (organization_id, revision, recorded_at, changes, hash, seal)
      VALUES ('${organizationId}', ${entry.revision}, 'x', '${entry.changes}', '${hash}', '')`);
    await tamper(`UPDATE {organizations} SET registry_revision = ${entry.revision} WHERE ${where()}`);
    expect(wire(await submitVia(fresh(), intruder))).toMatchObject({ refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
    expect(await lastReason()).toMatch(/evidence-corrupt: revision \d+ was not sealed by this service/);
  });

  it('a revision that the log does not know is refused by the database itself', async () => {
    const raise = `UPDATE {organizations} SET registry_revision = registry_revision + 1 WHERE ${where()}`;
    await expect(behind.query(raise)).rejects.toThrow(/the log of the Registry has no/);
    await expect(behind.query(`UPDATE {registry_log} SET seal = 'x' WHERE ${where()}`)).rejects.toThrow(
      /never changed/,
    );
    await expect(behind.query(`DELETE FROM {registry_log} WHERE ${where()}`)).rejects.toThrow(/never changed/);
  });

  it('MWP-SDV-012a: records stand in the order of their times, though the clock was set back between them', async () => {
    const { organizations } = opened.store;
    const { organizationId } = tenant.organization;
    const end = (recordedAt: string, revokedAt: string) =>
      organizations.changeRegistry(organizationId, { validity: [{ keyId: owner.keyId, recordedAt, revokedAt }] });
    await end('2026-05-02T00:00:00.000Z', '2026-05-02T00:00:00.000Z');
    await end('2026-05-01T00:00:00.000Z', '2026-05-01T00:00:00.000Z');
    const found = await organizations.keyEvidence(organizationId, [owner.keyId]);
    expect(found.get(owner.keyId)?.validity.map(({ recordedAt }) => recordedAt)).toEqual([
      '2026-05-02T00:00:00.000Z',
      '2026-05-02T00:00:00.000Z',
    ]);
    expect(await submitVia(fresh()).then(wire)).toMatchObject({ refusal: { code: 'AUTH_INVALID_SIGNATURE' } });
    expect(await lastReason()).toBe('key-resolution key-revoked');
  });
});
