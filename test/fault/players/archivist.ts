// Groups that end: created, trespassed in, given up, and archived, so that there are refusals to seal.
import { ARCHIVE } from '../../support/archival.ts';
import type { Actor } from '../actor.ts';
import { missionCreation, type Team } from '../world.ts';
import { trespass } from './talk.ts';

/** Refused before the archival: what is sealed then. */
const REFUSED = 2;

export async function archiveOnce({ owner, coordinator, conversationId }: Team, archivist: Actor): Promise<void> {
  const { groupId, draft } = missionCreation(coordinator.id);
  if (!(await owner.submit(draft))) return;
  for (let time = 0; time < REFUSED; time += 1) await trespass(owner, groupId, conversationId);
  await owner.submit({ kind: 'mission.cancel', groupId, payload: { reason: 'No longer needed' } });
  const snapshot = await owner.snapshotOf(groupId);
  if (snapshot) await archivist.submit({ kind: ARCHIVE, groupId, payload: { snapshot } });
}
