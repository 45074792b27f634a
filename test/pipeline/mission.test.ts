// A whole Mission on a real store, from creation to human approval, with the change request in between.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('a Mission on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;

  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
  });

  afterEach(async () => {
    expect(await tenant.expectReplayEquivalence()).toBeGreaterThan(0);
    expect(tenant.alarms).toEqual([]);
    await opened.close();
  });

  async function cast() {
    const owner = await tenant.human('olga');
    const coordinator = await tenant.agent('coordinator');
    const worker = await tenant.agent('worker');
    const mission = await Mission.create(tenant, owner, coordinator);
    await mission.join(worker);
    return { owner, coordinator, worker, mission };
  }

  it('MT-4, MT-5, MT-6: work is verified, submitted, sent back, submitted again and approved by its owner', async () => {
    const { owner, worker, mission } = await cast();
    const first = await mission.finish(worker, await mission.active(worker));
    const revision = await mission.submitForApproval([first]);
    const feedback = 'More tests, please';
    const changes = mission.approval(revision, [first], 'changes_requested', feedback);
    await mission.accept(owner, 'mission.request_changes', { missionRevision: revision, feedback, approval: changes });
    const second = await mission.finish(worker, await mission.active(worker), 'better code');
    const again = await mission.submitForApproval([first, second]);
    expect(again).toBeGreaterThan(revision);
    const wrong = mission.approval(again, [first]);
    expect(await mission.outcome(owner, 'mission.approve', { approval: wrong })).toBe('REVISION_CONFLICT');
    await mission.accept(owner, 'mission.approve', { approval: mission.approval(again, [first, second]) });
    expect(await mission.outcome(owner, 'mission.cancel', { reason: 'too late' })).toBe('INVALID_STATE_TRANSITION');
  });

  it('WT-8, WT-9, WT-10: checkpoint, resume, block, unblock, renew, charge, and finish', async () => {
    const { coordinator, worker, mission } = await cast();
    const item = await mission.active(worker);
    const usage = { modelTokens: 400 };
    await mission.accept(worker, 'ext.missionweaveprotocol.core.resource_usage_record', { ...item, usageDelta: usage });
    const over = { ...item, usageDelta: { modelTokens: 601 } };
    const kind = 'ext.missionweaveprotocol.core.resource_usage_record';
    expect(await mission.outcome(worker, kind, over)).toBe('BUDGET_EXCEEDED');
    const checkpoint = { phase: 'half way', completedMilestones: ['parser'], createdAt: tenant.now() };
    await mission.accept(worker, 'work.checkpoint', { ...item, checkpoint });
    expect(await mission.outcome(worker, 'work.checkpoint', { ...item, checkpoint })).not.toBe('accepted');
    const resumed = await mission.start(worker, item.workItemId);
    expect(resumed.executionLeaseId).not.toBe(item.executionLeaseId);
    expect(await mission.outcome(worker, 'work.checkpoint', { ...item, checkpoint })).toBe('WORK_LEASE_EXPIRED');
    await mission.accept(worker, 'work.block', { ...resumed, reason: 'Which database?', checkpoint });
    await mission.accept(coordinator, 'work.unblock', { workItemId: item.workItemId });
    await mission.finish(worker, await mission.start(worker, item.workItemId));
  });

  it('MWP-IDN-008a: a replaced session is fenced in every Group, and its active work is queued again', async () => {
    const { owner, coordinator, worker, mission } = await cast();
    const other = await Mission.create(tenant, owner, coordinator);
    await other.join(worker);
    const [here, there] = [await mission.active(worker), await other.active(worker)];
    const { events } = await tenant.openSession(worker);
    expect(events.map(({ kind }) => kind)).toEqual([
      'ext.missionweaveprotocol.core.work_execution_lease_revoked',
      'ext.missionweaveprotocol.core.work_execution_lease_revoked',
      'ext.missionweaveprotocol.identity.session_opened',
    ]);
    const renew = 'ext.missionweaveprotocol.core.work_execution_lease_renew';
    expect(await mission.outcome(worker, renew, { ...here, leaseSeconds: 900 })).toBe('AUTH_STALE_SESSION');
    mission.inSession(worker, 2);
    other.inSession(worker, 2);
    expect(await mission.outcome(worker, renew, { ...here, leaseSeconds: 900 })).not.toBe('accepted');
    await mission.finish(worker, await mission.start(worker, here.workItemId));
    await other.finish(worker, await other.start(worker, there.workItemId));
  });

  it('MT-7, WT-18: cancelling ends what is unfinished, with an Event for each item', async () => {
    const { owner, worker, mission } = await cast();
    await mission.finish(worker, await mission.active(worker));
    await mission.active(worker);
    await mission.authorize();
    const { events } = await mission.accept(owner, 'mission.cancel', { reason: 'the market moved' });
    expect(events.map(({ kind }) => kind)).toEqual(['mission.cancelled', 'work.cancelled', 'work.cancelled']);
    expect(await mission.outcome(worker, 'work.propose', { proposalId: id(), contract: mission.contract() })).toBe(
      'INVALID_STATE_TRANSITION',
    );
  });

  it('takes a NUL wherever the protocol takes text: in a Card, a Message, a goal and a data reference', async () => {
    const { owner, coordinator, worker, mission } = await cast();
    await tenant.registerCard(worker, 2, undefined, { displayName: 'Wor\u0000ker', description: '\u0000' });
    const fresh = generateActorKey({ type: 'agent', id: `${tenant.organization.organizationId}:agent:fresh` });
    await tenant.registerCard(fresh, 1, undefined, { displayName: '\u0000' });
    await mission.authorize({ goal: 'before\u0000after', businessImpact: '\u0000' });
    const [conversation] = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    const content = [
      { type: 'text', text: 'a\u0000b' },
      { type: 'data_ref', schema: 'https://schemas.example/any', data: { '\u0000': ['\u0000'] } },
    ];
    const conversationId = conversation?.id ?? '';
    await mission.accept(owner, 'message.post', { messageId: id(), conversationId, content });
    await mission.accept(coordinator, 'message.post', { messageId: id(), conversationId, content: '\u0000' });
  });
});
