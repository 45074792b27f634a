// Agent Cards that the registrar puts in force while their Agents work.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActorKey } from '../../src/worker/keys.ts';
import { Mission, type StartedItem } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { CODING, Tenant } from '../support/tenant.ts';

const CHECKPOINT = { phase: 'half', completedMilestones: [], createdAt: '2026-11-29T12:00:00Z' };
const NEXT_MAJOR = [{ ...CODING, version: '2.0.0' }];

describe.each(STORES)('Card upgrades on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let mission: Mission;
  let worker: ActorKey;
  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    worker = await tenant.agent('worker');
    mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
    await mission.join(worker);
  });
  afterEach(() => opened.close());

  const submit = (item: StartedItem, artifactId: string, contentHash: string) =>
    mission.outcome(worker, 'work.submit', {
      ...item,
      artifactIds: [artifactId],
      evidence: [mission.evidence(worker, item.workItemId, [contentHash])],
    });

  it('MWP-IDN-003a: an acceptance pins the Card and its capabilities, and nothing is published or submitted as another', async () => {
    const item = await mission.active(worker);
    const { aggregates } = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.load([{ read: 'one', kind: 'work_item', id: item.workItemId }]),
    );
    expect(aggregates[0]?.document).toMatchObject({
      workItem: { owner: { agentCardVersion: 1, capabilityPins: [CODING] } },
    });
    const { artifactId, contentHash } = await mission.publish(worker, item);
    await tenant.registerCard(worker, 2, NEXT_MAJOR);
    const asUpgraded = { agentCardVersion: 2, capabilities: NEXT_MAJOR };
    await expect(mission.publish(worker, item, 'more code', asUpgraded)).rejects.toThrow('REVISION_CONFLICT');
    expect(await submit(item, artifactId, contentHash)).toBe('WORK_STALE_OWNERSHIP');
  });

  it('MWP-IDN-003b: an incompatible Card stops execution until a new offer is accepted', async () => {
    const item = await mission.active(worker);
    const waiting = await mission.queued(worker);
    const early = await mission.publish(worker, item);
    await tenant.registerCard(worker, 2, NEXT_MAJOR);
    expect(await mission.outcome(worker, 'work.start', { workItemId: waiting, ownershipEpoch: 1 })).toBe(
      'WORK_STALE_OWNERSHIP',
    );
    expect(await submit(item, early.artifactId, early.contentHash)).toBe('WORK_STALE_OWNERSHIP');
    await mission.accept(worker, 'work.checkpoint', { ...item, checkpoint: CHECKPOINT });
    for (const workItemId of [item.workItemId, waiting]) {
      await mission.offer(workItemId, [worker]);
      await mission.accept(worker, 'work.accept_offer', { workItemId });
      const resumed = await mission.start(worker, workItemId, 3);
      const producer = { agentCardVersion: 2, capabilities: NEXT_MAJOR };
      const { artifactId, contentHash } = await mission.publish(worker, resumed, `of ${workItemId}`, producer);
      expect(await submit(resumed, artifactId, contentHash)).toBe('accepted');
    }
  });

  it('MWP-IDN-003b: a compatible Card changes nothing for work under way', async () => {
    const item = await mission.active(worker);
    await tenant.registerCard(worker, 2, [{ ...CODING, version: '1.9.0' }]);
    const { artifactId, contentHash } = await mission.publish(worker, item);
    expect(await submit(item, artifactId, contentHash)).toBe('accepted');
  });
});
