// A Group whose Mission has ended, the snapshot that it can be archived on, and the Command.
import type { PolicyLogEntry } from '../../src/protocol/documents/group-snapshot.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { activeMission, byOwner, COORDINATOR, GROUP, STRANGER, WORKER } from './fixtures.ts';
import { contextPackage } from './signed-documents.ts';
import { AUTHORITY, type CommandDraft, type World } from './world.ts';

export const ARCHIVE = 'ext.missionweaveprotocol.core.group_archive';
export const ARCHIVIST = { type: 'service', id: 'urn:test:service:archivist' } as const;

/** A Worker is a member, a stranger was invited until one o'clock, and the Mission is given up. */
export function endedMission(provisionalExpiresAt = '2026-11-29T13:00:00Z'): World {
  const world = activeMission();
  world.policy.services.push({ serviceId: ARCHIVIST.id, kinds: [ARCHIVE], relay: false });
  world.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
  world.accept(
    byOwner('membership.change', {
      principal: STRANGER,
      roles: ['worker'],
      provisional: true,
      provisionalExpiresAt,
      visibilityAfterSequence: 0,
      contextPackage: contextPackage({ generatedBy: COORDINATOR }),
    }),
  );
  world.accept(byOwner('mission.cancel', { reason: 'No need any more' }));
  world.advance(60);
  return world;
}

const ENTRY = { entryId: 'urn:test:entry:1', actor: AUTHORITY, occurredAt: '2026-11-29T12:00:00Z' };
const LINK: PolicyLogEntry = { ...ENTRY, decision: 'this is the first snapshot of its Group', details: {} };
export const DECIDED: PolicyLogEntry = { ...ENTRY, entryId: 'urn:test:entry:2', decision: 'some', details: { a: 1 } };

/** As the authority would take it now; the world knows it from then on, as the table does. */
export function takenSnapshot(world: World, overrides: object = {}) {
  const snapshot = snapshotOf(world, overrides);
  world.record = {
    policyPosition: 1,
    policyLog: [DECIDED],
    snapshot: { snapshotId: snapshot.snapshotId, signingHash: canonicalHash(snapshot), policyThrough: 1 },
  };
  return snapshot;
}

export function snapshotOf(world: World, overrides: object = {}) {
  return {
    snapshotId: 'urn:test:snapshot:1',
    groupId: GROUP,
    throughSequence: world.headOf(GROUP),
    eventIds: ['urn:test:event:1'],
    stateHash: world.stateHashOf(GROUP),
    policyLog: [LINK, DECIDED],
    createdBy: AUTHORITY,
    createdAt: world.now,
    signature: {
      algorithm: 'Ed25519',
      keyId: 'urn:test:key:authority',
      createdAt: world.now,
      value: 'A'.repeat(86),
    },
    ...overrides,
  };
}

export function archive(snapshot: object, envelope: object = {}): CommandDraft {
  return { kind: ARCHIVE, actor: ARCHIVIST, groupId: GROUP, payload: { snapshot }, ...envelope };
}

export function archivedGroup(): World {
  const world = endedMission();
  world.accept(archive(takenSnapshot(world)));
  return world;
}
