import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { CODING, RIVAL, WORKER } from '../support/fixtures.ts';
import { hashOf } from '../support/signed-documents.ts';
import { artifactOf, CODE_HASH } from '../support/work-documents.ts';
import {
  activeItem,
  byAgent,
  cited,
  ITEM,
  itemOf,
  only,
  OTHER_ITEM,
  publish,
  publishedItem,
  queuedItem,
} from '../support/work-fixtures.ts';
import type { World } from '../support/world.ts';

const SECOND = { artifactId: 'urn:test:artifact:2', contentHash: hashOf('d') };
const producer = { agentId: WORKER.id, agentCardVersion: 1, capabilities: [CODING] };

/** What some other Mission published, the child of this one if `parent` says so. */
function elsewhere(world: World, parent?: { missionId: string; workItemId: string; depth: number }): void {
  const { mission, details } = world.view.mustGet('mission', 'urn:test:mission:1');
  const missionId = 'urn:test:mission:9';
  const groupId = 'urn:test:group:9';
  world.view.set('mission', missionId, groupId, {
    mission: { ...mission, missionId, groupId, ...(parent && { parent }) },
    details,
  });
  const artifact = { ...artifactOf(OTHER_ITEM), missionId, groupId, classification: 'confidential', signingHash: 'x' };
  world.view.set('artifact', 'urn:test:artifact:9', groupId, artifact as never);
}

describe('MWP-WRK-023: artifact.publish', () => {
  it('records the manifest under its signing hash; the state of the item stays', () => {
    const world = activeItem();
    const event = only(world.accept(publish()(world)));
    expect(event).toMatchObject({ kind: 'artifact.published', aggregateRevision: 5, workItemId: ITEM });
    expect(event.payload['artifact']).toEqual(artifactOf(ITEM));
    expect(itemOf(world)).toMatchObject({
      workItem: { state: 'active', revision: 5 },
      details: { artifactIds: ['urn:test:artifact:1'] },
    });
    expect(world.view.mustGet('artifact', 'urn:test:artifact:1')).toMatchObject({
      contentHash: CODE_HASH,
      signingHash: event.payload['artifactHash'],
    });
  });

  it('MWP-WRK-023: refuses the same id with another hash; the same content under another id is another manifest', () => {
    const world = publishedItem();
    expect(world.outcome(publish({ contentHash: hashOf('d') })(world))).toBe('INVALID_STATE_TRANSITION');
    expect(world.outcome(publish({ artifactId: SECOND.artifactId })(world))).toBe('accepted');
  });

  it.each([
    ['inline content', { content: 'the code' }, 'SCHEMA_VALIDATION_FAILED'],
    ['a size below zero', { sizeBytes: -1 }, 'SCHEMA_VALIDATION_FAILED'],
    ['another Mission', { missionId: 'urn:test:mission:9' }, 'INVALID_COMMAND'],
    ['another Group', { groupId: 'urn:test:group:9' }, 'INVALID_COMMAND'],
    ['an unknown WorkItem', { workItemId: OTHER_ITEM }, 'INVALID_COMMAND'],
    ['another producer', { producer: { ...producer, agentId: RIVAL.id } }, 'AUTH_FORBIDDEN'],
    [
      'MWP-IDN-003a, MWP-IDN-003c: a Card version that was not pinned',
      { producer: { ...producer, agentCardVersion: 2 } },
      'REVISION_CONFLICT',
    ],
    [
      'MWP-IDN-003c: capabilities without the pinned one',
      { producer: { ...producer, capabilities: [{ ...CODING, version: '1.3.0' }] } },
      'INVALID_COMMAND',
    ],
    ['itself as source', { sourceArtifactHashes: [CODE_HASH] }, 'INVALID_COMMAND'],
    ['an unknown source', { sourceArtifactHashes: [hashOf('e')] }, 'INVALID_COMMAND'],
  ])('answers %s', (_, overrides, outcome) => {
    const world = activeItem();
    expect(world.outcome(publish(overrides)(world))).toBe(outcome);
  });

  it('refuses a creation time further ahead than a clock may be', () => {
    const world = activeItem();
    expect(world.outcome(publish({ createdAt: addSeconds(world.now, 60) })(world))).toBe('accepted');
    expect(world.outcome(publish({ createdAt: addSeconds(world.now, 60.001) })(world))).toBe('INVALID_COMMAND');
  });

  it('refuses an envelope that names another WorkItem', () => {
    const world = activeItem();
    expect(world.outcome({ ...publish()(world), workItemId: OTHER_ITEM })).toBe('INVALID_COMMAND');
    expect(world.outcome({ ...publish()(world), workItemId: ITEM })).toBe('accepted');
  });

  it.each(Object.keys(artifactOf(ITEM)).filter((member) => member !== 'workItemId'))(
    'MWP-WRK-023: refuses a manifest without %s',
    (member) => {
      const world = activeItem();
      const { [member]: _gone, ...artifact } = artifactOf(ITEM);
      expect(world.outcome(publish({}, { artifact })(world))).toBe('SCHEMA_VALIDATION_FAILED');
    },
  );

  describe('MWP-WRK-024a: provenance', () => {
    const derived = { ...SECOND, sourceArtifactHashes: [CODE_HASH] };

    it('takes a source of this Mission, of an ancestor and of a descendant, and no other', () => {
      const own = publishedItem();
      expect(own.outcome(publish(derived)(own))).toBe('accepted');
      const world = activeItem();
      elsewhere(world);
      const classified = { ...derived, classification: 'restricted' };
      expect(world.outcome(publish(classified)(world))).toBe('AUTH_FORBIDDEN');
      elsewhere(world, { missionId: 'urn:test:mission:1', workItemId: OTHER_ITEM, depth: 1 });
      expect(world.outcome(publish(classified)(world))).toBe('accepted');
    });

    it('is classified at least as high as its sources', () => {
      const world = publishedItem();
      expect(world.outcome(publish({ ...derived, classification: 'public' })(world))).toBe('INVALID_COMMAND');
      expect(world.outcome(publish({ ...derived, classification: 'internal' })(world))).toBe('accepted');
      expect(world.outcome(publish({ ...derived, classification: 'restricted' })(world))).toBe('accepted');
    });
  });

  describe('MWP-WRK-013c, -019b: only the executing owner', () => {
    it('cites its epoch and its current lease, while that lasts', () => {
      const world = activeItem();
      expect(world.outcome(publish({}, { ownershipEpoch: 2 })(world))).toBe('WORK_STALE_OWNERSHIP');
      expect(world.outcome(publish({}, { executionLeaseId: 'urn:test:lease:old' })(world))).toBe('WORK_LEASE_EXPIRED');
      const rival = byAgent(RIVAL, 'artifact.publish', { ...publish()(world).payload });
      expect(world.outcome(rival)).toBe('AUTH_FORBIDDEN');
      world.advance(300);
      expect(world.outcome(publish()(world))).toBe('WORK_LEASE_EXPIRED');
    });

    it('and only while it executes', () => {
      const world = queuedItem();
      const payload = { artifact: artifactOf(ITEM), ...cited(world) };
      const { workItemId: _gone, ...lease } = payload;
      expect(world.outcome(byAgent(WORKER, 'artifact.publish', lease))).toBe('INVALID_STATE_TRANSITION');
    });
  });
});
