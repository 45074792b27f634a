// A Mission up to its submission, over seeded WorkItems.
import { activeMission, byCoordinator } from './fixtures.ts';
import { seedItem } from './seeded-work.ts';
import { hashOf } from './signed-documents.ts';
import type { CommandDraft, World } from './world.ts';

export const RESULTS = [hashOf('a'), hashOf('b')];

/** An active Mission with one verified WorkItem that delivered RESULTS. */
export function verifiedMission(): World {
  const world = activeMission();
  seedItem(world, { state: 'verified', artifactHashes: RESULTS });
  return world;
}

export function submit(artifactHashes: unknown = RESULTS, envelope: object = {}): CommandDraft {
  return byCoordinator('mission.submit_for_approval', { artifactHashes }, envelope);
}

export function submittedMission(): World {
  const world = verifiedMission();
  world.accept(submit());
  return world;
}
