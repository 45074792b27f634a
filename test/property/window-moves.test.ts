// Sealing and snapshots change nothing that anybody is told: the same traffic, once with the default window, under which
// nothing is sealed, and once with a window of three Events that moves after every Command.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { createSnapshots } from '../../src/archive/snapshot/take.ts';
import { lookAt } from '../../src/archive/upkeep/group.ts';
import { createAuthority } from '../../src/authority/authority.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { createApp } from '../../src/http/app.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { VaultSigners } from '../../src/platform/tenant-signers.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import type { OrganizationRow } from '../../src/store/port.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import { signContextPackage } from '../../src/worker/documents.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES } from '../support/databases.ts';
import { id, Mission } from '../support/mission.ts';
import { withSeed } from '../support/seeded-randomness.ts';
import { MemoryBlobs } from '../support/snapshots.ts';
import { temporaryBlobs } from '../support/temporary-blobs.ts';
import { verifyEverything } from '../support/verified.ts';
import { OPERATOR_TOKEN, RecordedTenant, type Exchange } from './second-tenant/recorded-tenant.ts';
import { playLife } from './second-tenant/script.ts';

vi.mock('node:crypto', async (original) => {
  const { seededCrypto } = await import('../support/seeded-randomness.ts');
  return seededCrypto(await original());
});

const SEED = process.env['WINDOW_SEED'] ?? randomBytes(4).toString('hex');
const BEGIN = Date.parse('2026-11-29T12:00:00.000Z');
const STEP = 100;
const TINY = { ...DEFAULT_POLICY, onlineWindow: { events: 3 }, snapshotEvery: 4 };

interface Lived {
  /** Until the last reads. */
  exchanges: Exchange[];
  /** What each member is shown of the talk at the end, by name. */
  shown: Record<string, { replay: string[]; history: string[]; codes: string[] }>;
  /** Of the talk: as the authority reports it, and as the owner's history folds. */
  stateHash: string;
  folded: string;
  /** Groups with segments. */
  sealed: number;
}

describe.each(STORES)('$name: a window that moves', ({ open }) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function live(policy: typeof TINY | undefined): Promise<Lived> {
    vi.setSystemTime(BEGIN);
    const opened = await open({ clock: () => Date.now() });
    try {
      const [segmentBlobs, snapshotBlobs] = [new MemoryBlobs(), new MemoryBlobs()];
      const store = withSealedBodies(opened.store, segmentBlobs);
      const vault = new KeyVault(Buffer.alloc(32, 7));
      const signers = new VaultSigners(store.organizations, vault);
      const others = { blobs: temporaryBlobs(), snapshotBlobs, auditBlobs: new MemoryBlobs() };
      const authority = createAuthority({ store, signers });
      const logger = createLogger('silent');
      const limits = { contentBytesMaximum: 1_000, operatorToken: OPERATOR_TOKEN };
      const app = createApp({ store, ...others, authority, signers, vault, logger, ...limits });
      const snapshots = createSnapshots({ store, blobs: snapshotBlobs, signers });

      /** Draws from a seed of its own, so that the traffic's ids stay. */
      async function lookAround(organization: OrganizationRow, window: typeof TINY): Promise<void> {
        const standings = await store.segments.standings(organization.organizationId, '', 200);
        const parts = { store, segmentBlobs, snapshots, snapshotBlobs };
        for (const { groupId } of standings) await lookAt(parts, organization, groupId, window);
      }

      return await withSeed(SEED, async () => {
        let steps = 0;
        let last = '';
        const tick = async (request: string) => {
          vi.setSystemTime(BEGIN + STEP * (steps += 1));
          const isMoved = last.endsWith('/commands');
          last = request;
          // A snapshot that is asked for is to be a new one, whose id is drawn in both lives.
          if (!policy || !recorded || !isMoved || request.endsWith('/snapshots')) return;
          const { organization } = recorded.tenant;
          await withSeed(`${SEED} ${steps}`, () => lookAround(organization, policy));
        };
        let recorded: RecordedTenant | undefined = undefined as RecordedTenant | undefined;
        recorded = await RecordedTenant.create({ app, store, vault, clock: () => Date.now() }, 'first', tick);
        await playLife(recorded);
        const { organization } = recorded.tenant;
        const talked = await talk(recorded);
        expect(await verifyEverything(store, organization, snapshotBlobs)).toEqual([]);
        const standings = await store.segments.standings(organization.organizationId, '', 200);
        const sealed = standings.filter(({ sealedThrough }) => sealedThrough > 0).length;
        return { ...talked, sealed };
      });
    } finally {
      await opened.close();
    }
  }

  /** One more Group, with a member of every kind: full, provisional, observers from the beginning and from later on, ended. */
  async function talk(recorded: RecordedTenant): Promise<Omit<Lived, 'sealed'>> {
    const { tenant } = recorded;
    const [olga, ada] = [await tenant.human('owner'), await tenant.agent('coordinator')];
    const mission = await Mission.create(tenant, olga, ada);
    const group = `/groups/${encodeURIComponent(mission.groupId)}`;
    const ask = async (key: ActorKey, below: string) =>
      recorded.org('GET', below, { token: await recorded.tokenOf(key) });
    const main = JSON.parse((await ask(olga, group)).text) as { group: { mainConversationId: string } };
    const { mainConversationId: conversationId } = main.group;
    const [bob, carl, dora] = [await tenant.agent('worker'), await tenant.agent('carl'), await tenant.agent('dora')];
    const [erik, fred, gina] = [await tenant.human('erik'), await tenant.human('fred'), await tenant.agent('gina')];
    const observe = (key: ActorKey, more: object) =>
      mission.accept(olga, 'membership.change', { principal: key.principal, roles: ['observer'], ...more });
    await observe(erik, { visibilityAfterSequence: 0 });
    await mission.join(bob);
    await mission.finish(bob, await mission.active(bob));
    await mission.join(dora);
    const messageId = id();
    await mission.accept(olga, 'message.post', { messageId, conversationId, content: 'It is for Miller.' });
    await mission.join(carl);
    await observe(fred, {});
    await mission.say(ada, 'First the code.', conversationId);
    const begun = JSON.parse((await ask(olga, `${group}/history?from=1&limit=1`)).text) as { items: Event[] };
    const contextPackage = signContextPackage(ada, {
      missionId: mission.missionId,
      groupId: mission.groupId,
      sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: begun.items.map(({ eventId }) => eventId) },
      summary: 'What came before',
      generatedAt: tenant.now(),
    });
    const provisional = { provisional: true, provisionalExpiresAt: mission.later(600_000), contextPackage };
    const invited = { principal: gina.principal, roles: ['worker'], ...provisional };
    await mission.accept(ada, 'membership.change', invited);
    await mission.offer(await mission.authorize(), [gina]);
    await mission.accept(olga, 'membership.end', { principal: dora.principal, reason: 'Done' });
    await mission.accept(olga, 'message.redact', { amendmentId: id(), messageId, reason: 'It names a customer' });
    await mission.active(bob);
    for (let more = 0; more < 5; more += 1) await mission.say(ada, `Then the tests, ${more}.`, conversationId);

    const exchanges = [...recorded.exchanges];
    const shown: Lived['shown'] = {};
    for (const [name, key] of Object.entries({ olga, ada, bob, carl, dora, erik, fred, gina })) {
      const pages = async (below: string, from: string) => {
        const items: string[] = [];
        const codes: string[] = [];
        for (let next: string | undefined = from; next !== undefined;) {
          const { status, text } = await ask(key, `${group}/${below}=${next}&limit=7`);
          const page = JSON.parse(text) as { items?: object[]; next?: string; code?: string };
          items.push(...(page.items ?? []).map((item) => JSON.stringify(item)));
          if (status !== 200) codes.push(`${status} ${page.code}`);
          next = page.next;
        }
        return { items, codes };
      };
      const [replay, history] = [await pages('events?after', '0'), await pages('history?from', '1')];
      shown[name] = { replay: replay.items, history: history.items, codes: replay.codes };
    }
    const events = shown['olga']!.history.map((text) => JSON.parse(text) as Event);
    const state = JSON.parse((await ask(olga, `${group}/state`)).text) as { stateHash: string };
    const folded = foldedStateHash(tenant.organization.organizationId, mission.groupId, events);
    return { exchanges, shown, stateHash: state.stateHash, folded };
  }

  it(
    `MWP-MSN-009a, MWP-WRK-030b: no answer, receipt or state differs, and nobody's replay (seed ${SEED})`,
    { timeout: 120_000 },
    async () => {
      const whole = await live(undefined);
      const moved = await live(TINY);
      expect([whole.sealed, moved.sealed]).toEqual([0, 3]);
      expect(moved.exchanges.length).toBeGreaterThan(200);
      // Snapshots are others, and who may restore one is sent to it. All else is the same to the byte.
      const isTold = ({ status, text }: Exchange) => status === 410 && text.includes('CURSOR_TOO_OLD');
      expect(moved.exchanges.filter(isTold)).toHaveLength(2);
      const compared = (lived: Lived) =>
        lived.exchanges.filter(({ request }, at) => !request.includes('/snapshots') && !isTold(moved.exchanges[at]!));
      expect(moved.exchanges.map(({ request }) => request)).toEqual(whole.exchanges.map(({ request }) => request));
      expect(compared(moved)).toEqual(compared(whole));

      expect(whole.folded).toBe(whole.stateHash);
      expect([moved.stateHash, moved.folded]).toEqual([whole.stateHash, whole.stateHash]);
      const showing = Object.values(whole.shown).filter(({ history }) => history.length > 0);
      expect(showing.length).toBeGreaterThan(5);
      for (const [name, seen] of Object.entries(whole.shown)) {
        const now = moved.shown[name]!;
        expect([name, now.history]).toEqual([name, seen.history]);
        // Whoever sees the Group whole is sent to a snapshot; everybody else is served as before.
        const isFull = ['olga', 'ada', 'erik'].includes(name);
        expect([name, now.codes]).toEqual([name, isFull ? ['410 CURSOR_TOO_OLD'] : seen.codes]);
        const refused = name === 'dora' ? ['403 MEMBERSHIP_REQUIRED'] : [];
        expect([name, seen.codes, seen.replay]).toEqual([name, refused, seen.history]);
        if (!isFull) expect([name, now.replay]).toEqual([name, seen.replay]);
      }
    },
  );
});
