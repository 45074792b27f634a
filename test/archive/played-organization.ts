// A small Organization with a row in every table that transitions write and in which verification has something to find:
// two Groups that one Agent works in, texts, embedded documents, policy entries, a replaced session and its revoked leases.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { GroupAggregate } from '../../src/domain/aggregates.ts';
import { one } from '../../src/domain/reads.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

export interface PlayedOrganization {
  tenant: Tenant;
  vault: KeyVault;
  mission: Mission;
  /** Its owner cancels it. */
  other: Mission;
}

export async function playOrganization(store: AuthorityStore): Promise<PlayedOrganization> {
  const vault = new KeyVault(randomBytes(32));
  const tenant = await Tenant.create(store, { vault });
  const owner = await tenant.human('olga');
  const [coordinator, worker] = [await tenant.agent('coordinator'), await tenant.agent('worker')];
  const mission = await Mission.create(tenant, owner, coordinator);
  await mission.join(worker);
  await mission.finish(worker, await mission.active(worker));
  await redactedMessage(tenant, mission, worker);
  const other = await Mission.create(tenant, owner, coordinator);
  await other.join(worker);
  await mission.active(worker);
  await other.active(worker);
  await tenant.openSession(worker);
  await other.accept(owner, 'mission.cancel', { reason: 'no longer needed' });
  await changeRegistry(tenant, [owner, worker]);
  return { tenant, vault, mission, other };
}

/** As small as one can be that has a row in every table: for thousands of verifications. */
export async function playSmallOrganization(
  store: AuthorityStore,
): Promise<Omit<PlayedOrganization, 'mission' | 'other'>> {
  const vault = new KeyVault(randomBytes(32));
  const tenant = await Tenant.create(store, { vault });
  const coordinator = await tenant.agent('coordinator');
  const owner = await tenant.human('olga');
  const mission = await Mission.create(tenant, owner, coordinator);
  await mission.authorize();
  await redactedMessage(tenant, mission, coordinator);
  await changeRegistry(tenant, [owner, coordinator]);
  return { tenant, vault };
}

/** Said, corrected and redacted: two marks and two renditions. */
async function redactedMessage({ store, organization }: Tenant, mission: Mission, author: ActorKey): Promise<void> {
  const { aggregates } = await store.read(organization.organizationId, (reader) =>
    reader.load([one('group', mission.groupId)]),
  );
  const { mainConversationId: conversationId } = aggregates[0]?.document as GroupAggregate;
  const messageId = id();
  await mission.accept(author, 'message.post', { messageId, conversationId, content: 'a secret' });
  const correction = { amendmentId: id(), messageId, reason: 'a typo', replacementContent: 'the secret' };
  await mission.accept(author, 'message.correct', correction);
  await mission.accept(mission.owner, 'message.redact', { amendmentId: id(), messageId, reason: 'it is a secret' });
}

/** Ends of keys, far ahead, and a second policy. */
async function changeRegistry({ store, organization }: Tenant, keys: ActorKey[]): Promise<void> {
  const { organizations } = store;
  const { organizationId } = organization;
  const policy = await organizations.policy(organizationId);
  const recordedAt = await organizations.now();
  const validity = keys.map(({ keyId }, place) => ({
    keyId,
    recordedAt,
    validUntil: `${2098 + place}-01-01T00:00:00Z`,
  }));
  const done = await organizations.changeRegistry(organizationId, { validity, policy: { ...policy, version: 2 } });
  expect(done).toMatchObject({ outcome: 'done' });
}
