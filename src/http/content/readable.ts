// Who may read a content: whoever may read a manifest that names it, whoever put it, and auditors. To everybody else it is
// what is not there, after about the same work: one look at the manifests, one at the caller's Memberships.
import { ownInputs, workItemById } from '../../authority/queries/work-items.ts';
import { sightOf } from '../../delivery/sight.ts';
import { seesArtifact } from '../../delivery/visibility.ts';
import { membershipKey, type ArtifactAggregate, type MembershipAggregate } from '../../domain/aggregates.ts';
import { isAuditor } from '../../domain/policy.ts';
import { one } from '../../domain/reads.ts';
import { principalKey, type Principal } from '../../protocol/principals.ts';
import { isRefusal } from '../../protocol/refusals.ts';
import type { Reader } from '../../store/port.ts';

/** Manifests of one content in one read, and the groups of them that Memberships are looked up in. */
const MANIFESTS_AT_ONCE = 200;
/** Manifests looked at: a hash that more of them name, in Groups that the caller is not in, is found by no other way. */
const MANIFESTS_MAXIMUM = 2_000;
/** Names no Group; looked up where no manifest names one, so that it takes as long. */
const NO_GROUP = 'urn:uuid:00000000-0000-0000-0000-000000000000';

export interface Asked {
  principal: Principal;
  contentHash: string;
}

export async function mayRead(reader: Reader, asked: Asked): Promise<boolean> {
  const { principal, contentHash } = asked;
  if (isAuditor(await reader.policy(), principal)) return true;
  const own = await reader.upload({ principal, hash: contentHash });
  if (own !== undefined && own.state !== 'reserved') return true;
  return seesAManifest(reader, asked);
}

/** Who may put contents: an active member of any Group. */
export async function isActiveMember(reader: Reader, principal: Principal): Promise<boolean> {
  const [membership] = await reader.page({
    kind: 'membership',
    holder: principalKey(principal),
    states: ['active'],
    limit: 1,
  });
  return membership !== undefined;
}

async function seesAManifest(reader: Reader, { principal, contentHash }: Asked): Promise<boolean> {
  let afterId: string | undefined;
  for (let looked = 0; looked < MANIFESTS_MAXIMUM; looked += MANIFESTS_AT_ONCE) {
    const rows = await reader.page({
      kind: 'artifact',
      holder: contentHash,
      limit: MANIFESTS_AT_ONCE,
      ...(afterId !== undefined && { afterId }),
    });
    const manifests = rows.map(({ document }) => document as ArtifactAggregate);
    const groups = await groupsOf(reader, principal, manifests);
    for (const groupId of groups) {
      const ofGroup = manifests.filter((manifest) => manifest.groupId === groupId);
      if (await seesOneOf(reader, principal, groupId, ofGroup)) return true;
    }
    if (rows.length < MANIFESTS_AT_ONCE) return false;
    afterId = rows.at(-1)?.id;
  }
  return false;
}

/** Of the Groups that these manifests are of, those in which the caller is or was a member: one read, however many. */
async function groupsOf(reader: Reader, principal: Principal, manifests: ArtifactAggregate[]): Promise<Set<string>> {
  const named = new Set(manifests.map(({ groupId }) => groupId));
  const asked = named.size === 0 ? [NO_GROUP] : [...named];
  const { aggregates } = await reader.load(
    asked.map((groupId) => one('membership', membershipKey(groupId, principal))),
  );
  return new Set(aggregates.map(({ document }) => (document as MembershipAggregate).groupId));
}

async function seesOneOf(
  reader: Reader,
  principal: Principal,
  groupId: string,
  manifests: ArtifactAggregate[],
): Promise<boolean> {
  const sight = await sightOf(reader, groupId, principal);
  if (isRefusal(sight)) return false;
  const inputs = sight.level === 'full' ? new Set<string>() : await ownInputs(reader, groupId, principal.id);
  for (const manifest of manifests) {
    const item = sight.level === 'full' ? undefined : await workItemById(reader, groupId, manifest.workItemId);
    if (seesArtifact(sight, manifest, item, inputs)) return true;
  }
  return false;
}
