// Loads what the visibility rules ask about one reader and one Group. Reads only; the rules are in visibility.ts.
import { membershipKey, type GroupAggregate, type MembershipAggregate } from '../domain/aggregates.ts';
import { one } from '../domain/reads.ts';
import type { Principal } from '../protocol/principals.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { Reader } from '../store/port.ts';
import { groupNotFound, judgeMembership, type Sight } from './visibility.ts';

/** `groupId` undefined: text that no id can be. The answer is the same as for a Group that is not there. */
export async function sightOf(
  reader: Reader,
  groupId: string | undefined,
  principal: Principal,
): Promise<Sight | Refusal> {
  if (groupId === undefined) return groupNotFound();
  const loaded = await reader.load([one('group', groupId), one('membership', membershipKey(groupId, principal))]);
  const group = loaded.aggregates.find(({ kind }) => kind === 'group')?.document as GroupAggregate | undefined;
  const membership = loaded.aggregates.find(({ kind }) => kind === 'membership')?.document as
    MembershipAggregate | undefined;
  const standing = judgeMembership(group, membership, await reader.now());
  if ('refused' in standing || standing.level !== 'limited') return standing;
  const lastHidden = await reader.eventAt(groupId, standing.startSequence - 1);
  return lastHidden ? { ...standing, hiddenUntil: lastHidden.occurredAt } : standing;
}
