import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { byCoordinator, GROUP, RIVAL, WORKER } from '../support/fixtures.ts';
import {
  activeItem,
  byAgent,
  CHECKPOINT,
  cited,
  ITEM,
  itemOf,
  leaseIdOf,
  leasesOf,
  missionRevision,
  only,
  publish,
  start,
  submit,
  failureReport,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const PROGRESS = {
  currentPhase: 'Testing',
  completedMilestones: ['Written'],
  nextCheckpoint: 'All tests run',
  blockers: ['None'],
  updatedCompletionEstimate: '2026-11-29T14:00:00Z',
  evidenceIds: [],
};

function checkpoint(world: World, payload: object = {}, envelope: object = {}): CommandDraft {
  return byAgent(WORKER, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT, ...payload }, envelope);
}

describe('WT-8: work.checkpoint', () => {
  it('WT-8, MWP-WRK-014b: queues the item with its owner, stores the checkpoint and releases the lease', () => {
    const world = activeItem();
    world.advance(100);
    const event = only(world.accept(checkpoint(world)));
    const end = addSeconds(world.now, 900);
    expect(event).toMatchObject({ kind: 'work.checkpointed', aggregateRevision: 5 });
    expect(event.payload).toMatchObject({ checkpoint: { phase: 'half' }, ownershipLeaseExpiresAt: end });
    const { workItem, details } = itemOf(world);
    expect(workItem).toMatchObject({ state: 'queued', owner: { agentId: WORKER.id, ownershipEpoch: 1 } });
    expect(details).not.toHaveProperty('executionLeaseId');
    expect(world.view.mustGet('checkpoint', details.latestCheckpointId ?? '')).toMatchObject({
      groupId: GROUP,
      workItemId: ITEM,
      ownershipEpoch: 1,
    });
    expect(leasesOf(world, 'execution')).toMatchObject([
      { state: 'released', closedAt: world.now, closureReason: 'checkpoint' },
    ]);
    expect(leasesOf(world, 'ownership')).toMatchObject([{ state: 'active', expiresAt: end, startBy: end }]);
    expect(missionRevision(world)).toBe(2);
  });

  it('(e): the next end of ownership is what was asked, at most the policy and the deadline', () => {
    const world = activeItem();
    world.accept(checkpoint(world, { resumeWithinSeconds: 50 }));
    expect(leasesOf(world, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 50));
    const capped = activeItem();
    capped.policy.leases.ownershipMaximum = 40;
    capped.accept(checkpoint(capped, { resumeWithinSeconds: 5_000 }));
    expect(leasesOf(capped, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 40));
    const soon = activeItem({ contract: { deadline: addSeconds(world.now, 400) } });
    soon.accept(checkpoint(soon));
    expect(leasesOf(soon, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 400));
    const windowed = activeItem();
    windowed.policy.resumeWindowSeconds = 30;
    windowed.accept(checkpoint(windowed));
    expect(leasesOf(windowed, 'ownership')[0]?.expiresAt).toBe(addSeconds(world.now, 30));
  });

  it('MWP-WRK-016: progress is structured and its text is nobody else’s', () => {
    const world = activeItem();
    expect(world.outcome(checkpoint(world, { progress: '80 percent' }))).toBe('INVALID_COMMAND');
    expect(world.outcome(checkpoint(world, { progress: { ...PROGRESS, percent: 80 } }))).toBe('INVALID_COMMAND');
    world.accept(checkpoint(world, { progress: PROGRESS }));
    expect(itemOf(world).workItem.progress).toMatchObject({ updatedCompletionEstimate: '2026-11-29T14:00:00Z' });
    expect(JSON.stringify(world.view.all())).not.toMatch(/Testing|Written|half/);
  });

  it('takes null for what is absent, as the reference writes it, and refuses what is not a checkpoint', () => {
    const world = activeItem();
    const nulls = { ...CHECKPOINT, nextStep: null, stateArtifactHash: null };
    expect(world.outcome(checkpoint(world, { checkpoint: nulls }))).toBe('accepted');
    expect(world.outcome(checkpoint(world, { checkpoint: { createdAt: world.now } }))).toBe('INVALID_COMMAND');
  });

  describe('MWP-WRK-013c: an older Lease ID fails though the epoch is unchanged', () => {
    const commands: [string, (world: World, executionLeaseId: string) => CommandDraft][] = [
      ['renewal', (world, executionLeaseId) => byAgent(WORKER, RENEW, { ...cited(world), executionLeaseId })],
      ['checkpoint', (world, executionLeaseId) => checkpoint(world, { executionLeaseId })],
      [
        'block',
        (world, executionLeaseId) =>
          byAgent(WORKER, 'work.block', { ...cited(world), executionLeaseId, reason: 'x', checkpoint: CHECKPOINT }),
      ],
      ['publication', (world, executionLeaseId) => publish({}, { executionLeaseId })(world)],
      ['submission', (world, executionLeaseId) => submit(world, { executionLeaseId })],
      [
        'failure',
        (world, executionLeaseId) =>
          byAgent(WORKER, 'work.fail', { ...cited(world), executionLeaseId, reason: 'x', evidence: [failureReport()] }),
      ],
      [
        'usage',
        (world, executionLeaseId) =>
          byAgent(WORKER, USAGE, { ...cited(world), executionLeaseId, usageDelta: { modelTokens: 1 } }),
      ],
    ];

    it.each(commands)('MWP-WRK-013c: %s', (_, command) => {
      const world = activeItem();
      const first = leaseIdOf(world);
      world.accept(checkpoint(world));
      world.accept(start());
      expect(itemOf(world).details.ownershipEpoch).toBe(1);
      expect(world.outcome(command(world, first))).toBe('WORK_LEASE_EXPIRED');
    });
  });

  it('checks in order: epoch, owner, ownership, state, lease id, session', () => {
    const world = activeItem();
    expect(world.outcome(checkpoint(world, { ownershipEpoch: 2 }))).toBe('WORK_STALE_OWNERSHIP');
    const rival = byAgent(RIVAL, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT });
    expect(world.outcome(rival)).toBe('AUTH_FORBIDDEN');
    expect(world.outcome(checkpoint(world, {}, { expectedRevision: 3 }))).toBe('REVISION_CONFLICT');
    const session = world.view.mustGet('session', WORKER.id);
    world.view.set('session', WORKER.id, '', { ...session, sessionEpoch: 2 });
    expect(world.outcome(checkpoint(world))).toBe('AUTH_STALE_SESSION');
    expect(world.outcome(checkpoint(world, {}, { sessionEpoch: 2 }))).toBe('AUTH_STALE_SESSION');
  });

  it('T-9: the Coordinator asks for a checkpoint by Message; its own Command is refused', () => {
    const world = activeItem();
    expect(world.outcome(byCoordinator('work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT }))).toBe(
      'AUTH_FORBIDDEN',
    );
  });

  it('E-WORK_LEASE_EXPIRED: works until the lease ends and not at its end', () => {
    const world = activeItem();
    world.advance(299.999);
    expect(world.outcome(checkpoint(world))).toBe('accepted');
    world.advance(0.001);
    expect(world.outcome(checkpoint(world))).toBe('WORK_LEASE_EXPIRED');
    expect(itemOf(world).workItem.state).toBe('active');
  });
});

const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';
const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';
