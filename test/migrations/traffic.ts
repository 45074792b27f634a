// What a process that serves does to its database: every call of the store's port, again and again, until told to stop.
import { randomUUID } from 'node:crypto';
import type { ActorKey } from '../../src/worker/keys.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { Mission } from '../support/mission.ts';
import type { Tenant } from '../support/tenant.ts';

export interface Traffic {
  /** Resolves when so many more rounds are done; rejects with what stopped them. */
  rounds(more: number): Promise<void>;
  /** Resolves when the round under way is done; rejects if any failed. */
  stop(): Promise<number>;
}

export function startTraffic(tenant: Tenant, owner: ActorKey, lanes = 2): Traffic {
  let done = 0;
  let stopping = false;
  const waiting = new Set<{ at: number; resolve: () => void }>();
  const lane = async () => {
    while (!stopping) {
      await oneRound(tenant, owner);
      done += 1;
      for (const waiter of waiting) if (done >= waiter.at) waiter.resolve();
    }
  };
  const running = Promise.all(Array.from({ length: lanes }, lane));
  running.catch(() => undefined);
  return {
    rounds: (more) =>
      Promise.race([
        new Promise<void>((resolve) => waiting.add({ at: done + more, resolve })),
        running.then(() => undefined),
      ]),
    stop: async () => {
      stopping = true;
      await running;
      return done;
    },
  };
}

/** A life in small: a new Agent, a Mission, work begun, and a second session, which takes Groups that nobody named. */
async function oneRound(tenant: Tenant, owner: ActorKey): Promise<void> {
  const coordinator = await tenant.agent(`coordinator-${randomUUID()}`);
  const worker = await tenant.agent(`worker-${randomUUID()}`);
  const mission = await Mission.create(tenant, owner, coordinator);
  await mission.join(worker);
  await mission.publish(worker, await mission.active(worker));
  await tenant.openSession(worker);
  await readEverything(tenant, mission);
}

async function readEverything({ store, organization }: Tenant, { groupId }: Mission): Promise<void> {
  const { organizationId, slug, authority } = organization;
  const { organizations } = store;
  await organizations.bySlug(slug);
  await organizations.all('', 10);
  await organizations.principals(organizationId, '', 10);
  const bindings = await organizations.bindings(organizationId, authority);
  await organizations.keyEvidence(
    organizationId,
    bindings.map(({ keyId }) => keyId),
  );
  await organizations.sealedKeys(organizationId);
  await organizations.policy(organizationId);
  await organizations.now();
  await organizations.recordAudit(organizationId, { stage: '1', reason: 'a test', code: 'AUTH_INVALID_SIGNATURE' });
  await organizations.consumeChallenge(organizationId, randomUUID(), new Date(Date.now() + 60_000).toISOString());
  await readGroup(store, organizationId, groupId);
}

function readGroup(store: AuthorityStore, organizationId: Tenant['organization']['organizationId'], groupId: string) {
  return store.read(organizationId, async (reader) => {
    await reader.now();
    await reader.policy();
    await reader.streamIds();
    await reader.stream(groupId);
    await reader.aggregateHashes(groupId);
    await reader.policyLog(groupId, 0, 100);
    await reader.audit(0, 10);
    await reader.page({ kind: 'mission', limit: 10 });
    await reader.load([{ read: 'list', kind: 'work_item', groupId }]);
    await reader.texts(groupId, ['none']);
    const [event] = await reader.events(groupId, 0, 100);
    if (event === undefined) throw new Error('a Group without Events');
    await reader.event(event.eventId);
    await reader.admission(event.commandHash);
    await reader.document(event.commandHash);
    const command = await reader.command(event.commandHash);
    if (command === undefined) throw new Error('an Event without its Command');
    await reader.receipt(command);
  });
}
