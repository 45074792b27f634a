// What is not accepted leaves no trace but a protected audit record, and tells the caller no more than it may know.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RefusedSubmission } from '../../src/authority/ports.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('refusals on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let owner: ActorKey;
  let mission: Mission;
  let time = Date.parse('2026-11-29T12:00:00.000Z');
  const clock = () => time;

  beforeEach(async () => {
    opened = await open({ clock });
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store, { clock });
    owner = await tenant.human('olga');
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
  });

  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  /** Every row of every table but the bounded audit, counted, and the state of the Group. */
  async function stored(): Promise<string> {
    const { audit: _audit, ...rows } = await behind.rowCounts();
    const state = await tenant.store.read(tenant.organization.organizationId, async (reader) => [
      await reader.stream(mission.groupId),
      await reader.aggregateHashes(mission.groupId),
    ]);
    return JSON.stringify([rows, state]);
  }

  async function lastAudit() {
    const rows = await tenant.store.read(tenant.organization.organizationId, (reader) => reader.audit(0, 1_000));
    return rows.at(-1);
  }

  async function refused(bytes: Uint8Array, caller = owner.principal): Promise<RefusedSubmission> {
    const before = await stored();
    const answer = await tenant.submitBytes(bytes, caller);
    if (answer.accepted) throw new Error('accepted');
    expect(await stored()).toBe(before);
    return answer;
  }

  async function conversationId(): Promise<string> {
    const [found] = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    return found?.id ?? '';
  }

  async function message(text: string) {
    return mission.draft('message.post', { messageId: id(), conversationId: await conversationId(), content: text });
  }

  const signed = async (text: string) => tenant.sign(owner, await message(text), mission.epochsOf(owner));

  it('MWP-SDV-018b, E-AUTH_INVALID_SIGNATURE: a changed byte is refused; the audit names the stage, the wire does not', async () => {
    const text = Buffer.from(await signed('pay 10')).toString('utf8');
    const { refusal, relatedActionId } = await refused(Buffer.from(text.replace('pay 10', 'pay 99')));
    expect(refusal.code).toBe('AUTH_INVALID_SIGNATURE');
    expect(JSON.stringify(refusal)).not.toMatch(/stage|equation|key/i);
    expect(await lastAudit()).toMatchObject({
      stage: 'signature',
      code: 'AUTH_INVALID_SIGNATURE',
      actionId: relatedActionId,
    });
    expect(JSON.stringify(await lastAudit())).not.toContain('pay 99');
  });

  it('MWP-SDV-011: an unknown key, a foreign key and a bad signature get the same refusal', async () => {
    const draft = await message('hello');
    const stranger = { ...owner, ...(await import('../../src/worker/keys.ts')).generateActorKey(owner.principal) };
    const foreign = { ...tenant.keyOf(mission.coordinator.principal), principal: owner.principal };
    const unknown = await refused(tenant.sign(stranger, draft, mission.epochsOf(owner)));
    const other = await refused(tenant.sign(foreign, draft, mission.epochsOf(owner)));
    const text = Buffer.from(await signed('hello')).toString('utf8');
    const bad = await refused(Buffer.from(text.replace('hello', 'hullo')));
    expect(other.refusal).toEqual(unknown.refusal);
    expect(bad.refusal).toEqual(unknown.refusal);
  });

  it('E-PROTOCOL_VIOLATION, E-SCHEMA_VALIDATION_FAILED: bytes that are no Command are refused before anything else', async () => {
    expect((await refused(Buffer.from('{'))).refusal.code).toBe('PROTOCOL_VIOLATION');
    expect((await refused(Buffer.from('{}'))).refusal.code).toBe('SCHEMA_VALIDATION_FAILED');
    expect((await lastAudit())?.stage).toBe('schema');
  });

  it('E-AUTH_FORBIDDEN: nobody submits what another signed, but a service that the policy lets relay', async () => {
    const { identity, organizationId } = tenant.organization;
    expect((await refused(await signed('mine'), mission.coordinator.principal)).refusal.code).toBe('AUTH_FORBIDDEN');
    expect((await refused(await signed('mine'), identity)).refusal.code).toBe('AUTH_FORBIDDEN');
    const policy = await tenant.store.organizations.policy(organizationId);
    for (const rights of policy.services) rights.relay = rights.serviceId === identity.id;
    await tenant.store.organizations.changeRegistry(organizationId, {
      policy: { ...policy, version: policy.version + 1 },
    });
    expect((await tenant.submitBytes(await signed('relayed'), identity)).accepted).toBe(true);
  });

  it('E-GROUP_NOT_FOUND, MWP-EVT-009c: a Group of another tenant, a foreign Group and none at all are one answer', async () => {
    const other = await Tenant.create(opened.store, { clock });
    const elsewhere = await Mission.create(other, await other.human('olga'), await other.agent('coordinator'));
    const foreign = await Mission.create(tenant, await tenant.human('otto'), mission.coordinator);
    const ask = async (groupId: string) => {
      const draft = { ...(await message('anybody there?')), groupId };
      const { refusal, groupId: told } = await refused(tenant.sign(owner, draft, mission.epochsOf(owner)));
      expect(told).toBeUndefined();
      return refusal;
    };
    const none = await ask(id());
    expect(none.code).toBe('GROUP_NOT_FOUND');
    expect(await ask(elsewhere.groupId)).toEqual(none);
    expect(await ask(foreign.groupId)).toEqual(none);
  });

  it('a kind that is not executed here is INVALID_COMMAND, and its Action ID stays usable', async () => {
    const draft = mission.draft('ext.example.demo.nothing', {});
    expect(await tenant.outcome(owner, draft, mission.epochsOf(owner))).toBe('INVALID_COMMAND');
  });

  it('design 4: a clock behind the last Event by 5 s is waited out with its time; beyond, INTERNAL_ERROR and an alarm', async () => {
    const { events: first } = await tenant.accept(owner, await message('first'), mission.epochsOf(owner));
    const at = (event: unknown) => (event as { occurredAt: string }).occurredAt;
    time -= 5_000;
    const { events: second } = await tenant.accept(owner, await message('second'), mission.epochsOf(owner));
    expect(at(second[0])).toBe(at(first[0]));
    time -= 1;
    const { refusal } = await refused(await signed('third'));
    expect(refusal).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(refusal.retryAfterMs).toBeGreaterThan(0);
    expect(tenant.alarms.join()).toContain('clock is behind');
    await tenant.expectReplayEquivalence();
  });

  it('E-INTERNAL_ERROR: a database that is gone is a retryable error, never a wrong answer', async () => {
    const bytes = await signed('hold on');
    await opened.store.close();
    const answer = await tenant.submitBytes(bytes, owner.principal);
    expect(answer).toMatchObject({ accepted: false, refusal: { code: 'INTERNAL_ERROR' } });
  });
});
