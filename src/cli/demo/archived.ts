// After the story: does the snapshot that a Group was archived on hold? Restored as any client would, with the authority's
// public keys and nothing else of the service, and with the Events after it the state that the authority reports.

import { evidenceFromSnapshot, registrySnapshot } from '../../trust/registry-snapshot.ts';
import type { GroupRecord } from './audit.ts';
import type { Checks } from './checks.ts';
import type { OrganizationAnswer } from './operator.ts';
import { answerOf, type Play } from './play.ts';

/** Before the first key of any demo. */
const VALID_FROM = '2000-01-01T00:00:00Z';

export async function checkArchived(
  play: Play,
  { state, events }: GroupRecord,
  { organizationId, authority, keys }: OrganizationAnswer,
  checks: Checks,
): Promise<void> {
  const bindings = keys.map((key) => ({
    ...key,
    algorithm: 'Ed25519' as const,
    validFrom: VALID_FROM,
    history: [],
  }));
  const evidence = evidenceFromSnapshot(registrySnapshot(organizationId, bindings));
  const restored = await play.readAs(play.cast.olga).restore({ organizationId, authority, evidence });
  if (!restored.ok || !restored.value.ok) {
    const found = restored.ok ? restored.value : answerOf(restored);
    checks.equal(`${play.lane}: the snapshot of the archive verifies`, found, 'it does');
    return;
  }
  const { fold } = restored.value;
  const tail = events.slice(fold.throughSequence);
  checks.equal(
    `${play.lane}: the snapshot verifies, and the archival is all that comes after it`,
    tail.map(({ kind }) => kind),
    ['group.snapshot.created', 'group.archived'],
  );
  for (const event of tail) fold.add(event);
  checks.equal(`${play.lane}: restored from it, the state is the authority's`, fold.stateHash(), state.stateHash);
}
