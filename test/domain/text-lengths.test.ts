import { describe, expect, it } from 'vitest';
import { byCoordinator, byOwner, missionCreate, WORKER } from '../support/fixtures.ts';
import { activeItem, blockedItem, byAgent, CHECKPOINT, cited, ITEM } from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

/** Each of them is one character of a JSON text and two UTF-16 units. */
const characters = (count: number) => '😀'.repeat(count);

type TextCase = [maximum: number, world: () => World, draft: (text: string, world: World) => CommandDraft];

const elsewhere = { envelope: { groupId: 'urn:test:group:2' } };
const create = (payload: object) =>
  missionCreate({
    ...elsewhere,
    payload: { groupId: 'urn:test:group:2', missionId: 'urn:test:mission:2', ...payload },
  });

const CASES: Record<string, TextCase> = {
  'mission.create objective': [10_000, activeItem, (objective) => create({ objective })],
  'mission.create title': [500, activeItem, (title) => create({ title })],
  'mission.cancel reason': [4_000, activeItem, (reason) => byOwner('mission.cancel', { reason })],
  'membership.end reason': [4_000, activeItem, (reason) => byOwner('membership.end', { principal: WORKER, reason })],
  'work.cancel reason': [4_000, activeItem, (reason) => byCoordinator('work.cancel', { workItemId: ITEM, reason })],
  'work.unblock resolution': [
    4_000,
    blockedItem,
    (resolution) => byCoordinator('work.unblock', { workItemId: ITEM, resolution }),
  ],
  'work.block reason': [
    4_000,
    activeItem,
    (reason, world) => byAgent(WORKER, 'work.block', { ...cited(world), reason, checkpoint: CHECKPOINT }),
  ],
};

describe.each(Object.entries(CASES))('%s', (_member, [maximum, worldOf, draftOf]) => {
  it('counts characters as the documents of the protocol do, not UTF-16 units', () => {
    const world = worldOf();
    expect(world.outcome(draftOf(characters(maximum), world))).toBe('accepted');
    expect(world.outcome(draftOf(characters(maximum + 1), world))).toBe('INVALID_COMMAND');
  });
});
