// The refusals of an archived Group: sealed whole wherever a process ends, shown to auditors as before, and to nobody once
// anything about them was changed.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SealFault, type AuditSeals } from '../../src/archive/audit/ports.ts';
import { auditOfGroup } from '../../src/archive/audit/read.ts';
import { createAuditSeals } from '../../src/archive/audit/seals.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { AuditRow, AuthorityStore, NamedPoint } from '../../src/store/port.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { archiveGroup, archivistOf } from '../support/archived-groups.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { MemoryBlobs } from '../support/snapshots.ts';
import { Tenant } from '../support/tenant.ts';
import { verifyEverything } from '../support/verified.ts';
import { Vandal } from './vandal.ts';

const DAY = 86_400_000;
/** In an Action ID, which the record holds as it is. */
const MARK = 'urn:test:mark:PLAINLY-TO-BE-SEEN';

describe.each(STORES)('the sealed audit on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let organizationId: OrganizationId;
  let owner: ActorKey;
  let archivist: ActorKey;
  let mission: Mission;
  let other: Mission;
  let blobs: MemoryBlobs;
  let vault: KeyVault;
  let millis: number;
  let failures: unknown[];
  beforeEach(async () => {
    millis = Date.parse('2026-05-01T00:00:00Z');
    opened = await open({ clock: () => millis });
    tenant = await Tenant.create(opened.store, { clock: () => millis });
    ({ organizationId } = tenant.organization);
    owner = await tenant.human('olga');
    archivist = await archivistOf(tenant);
    const coordinator = await tenant.agent('ada');
    mission = await Mission.create(tenant, owner, coordinator);
    other = await Mission.create(tenant, owner, coordinator);
    [blobs, vault, failures] = [new MemoryBlobs(), new KeyVault(Buffer.alloc(32, 5)), []];
  });
  afterEach(() => opened.close());

  const refuseIn = (group: Mission, more: object = {}) =>
    tenant.outcome(owner, group.draft('mission.approve', {}, more), group.epochsOf(owner));
  const sealing = (pass?: (point: NamedPoint) => void, store: AuthorityStore = opened.store): AuditSeals =>
    createAuditSeals({
      store,
      blobs,
      vault,
      failed: (_, error) => failures.push(error),
      ...(pass && { pass }),
    });
  const plain = (groupId?: string) => opened.store.read(organizationId, (reader) => reader.audit(0, 1_000, groupId));
  const seen = (groupId: string, afterId = 0, limit = 1_000): Promise<AuditRow[]> =>
    opened.store.read(organizationId, (reader) =>
      auditOfGroup(reader, { organizationId, groupId }, { afterId, limit }, { blobs, vault }),
    );
  const row = () => opened.store.read(organizationId, (reader) => reader.sealedAudit(mission.groupId));

  /** Three refusals of the Group with one of another between them, then its end and its archival. */
  async function archived(): Promise<AuditRow[]> {
    await refuseIn(mission, { actionId: MARK });
    await refuseIn(other);
    millis += 1_000;
    await refuseIn(mission);
    await refuseIn(mission);
    const before = await plain(mission.groupId);
    expect(before).toHaveLength(3);
    await mission.accept(owner, 'mission.cancel', { reason: 'x' });
    await archiveGroup(tenant, mission, archivist, new MemoryBlobs());
    return before;
  }

  it('MWP-MSN-009b: holds all that was refused until the archival, encrypted, and nothing of it stays plain', async () => {
    const before = await archived();
    expect(JSON.stringify(await plain())).toContain(MARK);
    await sealing().look(organizationId);
    expect(await plain(mission.groupId)).toEqual([]);
    expect(await plain(other.groupId)).toHaveLength(1);
    expect(await row()).toMatchObject({ records: 3, firstId: before[0]?.id, lastId: before[2]?.id, format: 1 });
    expect(await seen(mission.groupId)).toEqual(before);
    expect(blobs.hashes()).toEqual([(await row())?.blobHash]);
    for (const bytes of blobs.kept.values()) {
      expect(bytes.includes(MARK)).toBe(false);
      expect(bytes.includes('groupId')).toBe(false);
    }
    expect(await verifyEverything(opened.store, tenant.organization)).toEqual([]);
  });

  it('MWP-SDV-018d: the policy log leads an auditor there, by numbers alone', async () => {
    const before = await archived();
    const entries = await opened.store.read(organizationId, (reader) => reader.policyLog(mission.groupId, 0, 100));
    expect(JSON.parse(entries.at(-1)?.details ?? '')).toMatchObject({
      rule: 'MWP-SDV-018d',
      refusedCommands: { count: 3, firstId: before[0]?.id, lastId: before[2]?.id },
    });
    expect(entries.at(-1)?.details).not.toContain(MARK);
  });

  it('pages go through what is sealed and on to what was refused later, which stays plain, under numbers of its own', async () => {
    const before = await archived();
    await sealing().look(organizationId);
    await refuseIn(mission);
    await refuseIn(mission);
    await sealing().look(organizationId);
    const late = await plain(mission.groupId);
    expect(late).toHaveLength(2);
    expect(Math.min(...late.map(({ id }) => id))).toBeGreaterThan(before[2]?.id as number);
    const all = [...before, ...late];
    expect(await seen(mission.groupId)).toEqual(all);
    const paged: AuditRow[] = [];
    for (;;) {
      const page = await seen(mission.groupId, paged.at(-1)?.id ?? 0, 2);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(2);
      paged.push(...page);
    }
    expect(paged).toEqual(all);
  });

  it('a Group of which nothing was refused has nothing to seal, then or later', async () => {
    await mission.accept(owner, 'mission.cancel', { reason: 'x' });
    await archiveGroup(tenant, mission, archivist, new MemoryBlobs());
    await refuseIn(mission);
    await sealing().look(organizationId);
    expect([await row(), blobs.hashes()]).toEqual([undefined, []]);
    expect(await plain(mission.groupId)).toHaveLength(1);
  });

  it.each<NamedPoint>(['audit-seal-begun', 'audit-blob-stored', 'audit-sealed'])(
    'a process that ends at %s leaves the record whole, and the next look finishes',
    async (where) => {
      const before = await archived();
      const dying = sealing((point) => {
        if (point === where) throw new Error('the process ends here');
      });
      await expect(dying.look(organizationId)).rejects.toThrow('ends here');
      expect(await seen(mission.groupId)).toEqual(before);
      await sealing().look(organizationId);
      expect(await seen(mission.groupId)).toEqual(before);
      expect(await plain(mission.groupId)).toEqual([]);
      const sealedAt = (await row())?.sealedAt;
      await sealing().look(organizationId);
      expect((await row())?.sealedAt).toBe(sealedAt);
    },
  );

  it('of two processes that seal at once one does, and the bytes of the other are gone', async () => {
    const before = await archived();
    const stores = name === 'postgres' ? [opened.store, await opened.another()] : [opened.store, opened.store];
    await Promise.all(stores.map((store) => sealing(undefined, store).look(organizationId)));
    expect(await seen(mission.groupId)).toEqual(before);
    expect(blobs.hashes()).toEqual([(await row())?.blobHash]);
  });

  it('who finds nothing to seal any more, because another process just sealed it, takes nothing of that away', async () => {
    const before = await archived();
    const late: AuthorityStore = {
      ...opened.store,
      read: async (organization, work) => {
        await sealing().look(organizationId);
        return opened.store.read(organization, work);
      },
    };
    await sealing(undefined, late).look(organizationId);
    expect(await seen(mission.groupId)).toEqual(before);
    expect(blobs.hashes()).toEqual([(await row())?.blobHash]);
  });

  it('whoever waits for nobody is told of what failed, and a later look does it', async () => {
    const before = await archived();
    const put = blobs.put.bind(blobs);
    blobs.put = () => Promise.reject(new Error('the disk is full'));
    const seals = sealing();
    seals.wake(organizationId);
    seals.wake(organizationId);
    // Comes after both, which are one.
    await expect(seals.look(organizationId)).rejects.toThrow('the disk is full');
    expect(failures).toMatchObject([{ message: 'the disk is full' }]);
    blobs.put = put;
    const next = sealing();
    next.wakeAll();
    await expect.poll(row, { interval: 5 }).toBeDefined();
    await next.stop();
    next.wake(organizationId);
    await next.stop();
    expect(await seen(mission.groupId)).toEqual(before);
  });

  it('is kept until its last record is past its time, and then key and bytes are gone; its numbers are not given again', async () => {
    const before = await archived();
    await sealing().look(organizationId);
    const { auditRetentionDays } = await opened.store.organizations.policy(organizationId);
    millis += auditRetentionDays * DAY - 1_000;
    await sealing().look(organizationId);
    expect(await row()).toBeDefined();
    millis += 1_001;
    await sealing().look(organizationId);
    expect([await row(), blobs.hashes(), await seen(mission.groupId)]).toEqual([undefined, [], []]);
    await refuseIn(other);
    expect((await plain(other.groupId)).at(-1)?.id).toBeGreaterThan(before[2]?.id as number);
  });

  it.each([['the Group'], ['every Group']])('a legal hold on %s keeps it, and its end lets it go', async (which) => {
    const before = await archived();
    await sealing().look(organizationId);
    await tenant.changePolicy(() => ({ legalHolds: which === 'every Group' ? ['*'] : [mission.groupId] }));
    millis += 10_000 * DAY;
    await sealing().look(organizationId);
    expect(await seen(mission.groupId)).toEqual(before);
    await tenant.changePolicy(() => ({ legalHolds: [other.groupId] }));
    await sealing().look(organizationId);
    expect(await row()).toBeUndefined();
  });

  it('shows nothing once anything that is authenticated was changed, wherever that stands', async () => {
    await archived();
    await sealing().look(organizationId);
    const vandal = await Vandal.over(opened);
    try {
      const stored = async () => (await vandal.rows('sealed_audits'))[0]!;
      const { wrapped_key: key, last_recorded_at: last } = (await stored()) as Record<string, string>;
      const spoilt: [object, SealFault['kind']][] = [
        [{ records: 2 }, 'altered'],
        [{ first_id: 2 }, 'altered'],
        [{ last_id: 100 }, 'altered'],
        [{ last_recorded_at: `${String(last).slice(0, -2)}9Z` }, 'altered'],
        [{ wrapped_key: `${String(key).slice(0, -2)}AA` }, 'altered'],
        [{ wrapped_key: 'no base64url!' }, 'altered'],
        [{ wrapped_key: '' }, 'altered'],
        [{ format: 2 }, 'format'],
        [{ key_version: 2 }, 'key'],
        [{ blob_hash: `sha256:${'0'.repeat(64)}` }, 'gone'],
      ];
      for (const [change, kind] of spoilt) {
        const undo = await vandal.set('sealed_audits', await stored(), change as Record<string, unknown>);
        const fault = await seen(mission.groupId).catch((error: unknown) => error);
        expect([change, fault]).toEqual([change, expect.any(SealFault)]);
        expect([change, (fault as SealFault).kind]).toEqual([change, kind]);
        expect((fault as SealFault).message).toContain(mission.groupId);
        await undo?.();
      }
      const [tenantKey] = await vandal.rows('tenant_keys');
      const undo = await vandal.set('tenant_keys', tenantKey!, {
        sealed: `${String(tenantKey!['sealed']).slice(0, -2)}AA`,
      });
      await expect(seen(mission.groupId)).rejects.toMatchObject({ kind: 'key' });
      await undo?.();
      expect(await seen(mission.groupId)).toHaveLength(3);
    } finally {
      await vandal.close();
    }
  });

  it('shows nothing of changed bytes, of the bytes of another Group, or under another master key', async () => {
    await archived();
    await other.accept(owner, 'mission.cancel', { reason: 'x' });
    await archiveGroup(tenant, other, archivist, new MemoryBlobs());
    await sealing().look(organizationId);
    const [mine, others] = await opened.store.read(organizationId, async (reader) => [
      (await reader.sealedAudit(mission.groupId))!,
      (await reader.sealedAudit(other.groupId))!,
    ]);
    const vandal = await Vandal.over(opened);
    const [stored] = (await vandal.rows('sealed_audits')).filter((one) => one['group_id'] === mission.groupId);
    try {
      const address = `${organizationId} ${mine.blobHash}`;
      const bytes = blobs.kept.get(address)!;
      for (let at = 0; at < bytes.length; at += 7) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] as number) ^ 1;
        // As if the store did not notice by the hash alone.
        const lying = { get: async () => once(changed) };
        const read = opened.store.read(organizationId, (reader) =>
          auditOfGroup(
            reader,
            { organizationId, groupId: mission.groupId },
            { afterId: 0, limit: 9 },
            { blobs: lying, vault },
          ),
        );
        await expect(read).rejects.toMatchObject({ kind: 'altered' });
      }
      const { wrappedKey, blobHash } = others;
      const undo = await vandal.set('sealed_audits', stored!, { wrapped_key: wrappedKey, blob_hash: blobHash });
      await expect(seen(mission.groupId)).rejects.toMatchObject({ kind: 'altered' });
      await undo?.();
      vault = new KeyVault(Buffer.alloc(32, 6));
      await expect(seen(mission.groupId)).rejects.toMatchObject({ kind: 'key' });
    } finally {
      await vandal.close();
    }
  });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
