// A member of a running service that was away for longer than the online window: it comes back through a snapshot and has the
// state of one that never left, also while the window moves under it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import type { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand } from '../../src/worker/commands.ts';
import type { Follows } from '../../src/worker/follower.ts';
import { GroupReader } from '../../src/worker/group-reader.ts';
import { id } from '../support/mission.ts';
import { ENGINES, newMission, newPlace, Serving, sign, type Place } from '../support/serving.ts';

const EVENTS = 12;

describe.each(ENGINES)('following a Group on %s', (engine) => {
  let place: Place;
  let serving: Serving;
  let client: AuthorityClient;
  let reader: GroupReader;
  let expected: Follows;
  let conversationId: string;
  beforeEach(async () => {
    place = await newPlace(engine);
    serving = await Serving.start(place.environment);
    await serving.people();
    const policy = (await (await serving.operate('GET', '/organizations/acme/policy')).json()) as object;
    const window = { ...policy, onlineWindow: { events: EVENTS }, snapshotEvery: 5 };
    expect((await serving.operate('PUT', '/organizations/acme/policy', window)).status).toBe(200);
    client = serving.client(serving.olga);
    const mission = newMission(serving.olga, serving.ada);
    const created = await client.logIn().then(() => client.submit(sign(serving.olga, mission.creation())));
    if (!created.ok) throw new Error(created.problem.message);
    reader = new GroupReader(client, mission.groupId);
    const group = await reader.group();
    if (!group.ok) throw new Error(group.problem.message);
    conversationId = group.value.group.mainConversationId;
    const { organizations } = serving.service.store;
    const { organizationId, authority } = (await organizations.bySlug('acme'))!;
    const keys = await organizations.bindings(organizationId, authority);
    const registry = registrySnapshot(
      organizationId,
      keys.map((key) => ({ ...key, history: [] })),
    );
    expected = { organizationId, authority, evidence: evidenceFromSnapshot(registry) };
  });
  afterEach(async () => {
    await serving.service.stop();
    place.giveBack();
  });

  async function say(times: number): Promise<void> {
    for (let count = 0; count < times; count += 1) {
      const payload = { messageId: id(), conversationId, content: `It goes on, ${count}.` };
      const draft = { kind: 'message.post' as const, groupId: reader.groupId, payload };
      const said = await client.submit(signCommand(serving.olga, draft, { membershipEpoch: 1 }, Date.now()));
      if (!said.ok) throw new Error(said.problem.message);
    }
  }

  async function sealedThrough(): Promise<number> {
    const standing = await serving.service.store.segments.standing(expected.organizationId as never, reader.groupId);
    return standing!.sealedThrough;
  }

  it('MWP-WRK-030c, MWP-MSN-009d: who was away for the whole window ends with the state of one that never left', async () => {
    const [present, away] = [reader.follower(expected), reader.follower(expected)];
    expect(await present.catchUp()).toEqual({ ok: true, value: { headSequence: 1, restored: 0 } });
    expect(await away.catchUp()).toEqual({ ok: true, value: { headSequence: 1, restored: 0 } });
    for (let round = 0; round < 3; round += 1) {
      await say(10);
      await serving.service.lookAfterGroups();
      expect(await present.catchUp()).toMatchObject({ ok: true, value: { restored: 0 } });
    }
    expect(await sealedThrough()).toBeGreaterThan(1);
    expect(await away.catchUp()).toEqual({ ok: true, value: { headSequence: 31, restored: 1 } });
    const state = await reader.state();
    const reported = state.ok && state.value.stateHash;
    expect([away.fold.stateHash(), present.fold.stateHash()]).toEqual([reported, reported]);
    // Who begins anew comes in the same way, and the history is there for who wants all of it.
    const fresh = reader.follower(expected);
    expect(await fresh.catchUp()).toMatchObject({ ok: true, value: { restored: 1 } });
    expect(fresh.fold.stateHash()).toBe(reported);
    const history = await reader.historyPage(1, 31);
    expect(history.ok && history.value.items.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 31 }, (_, place) => place + 1),
    );
  });

  it('MWP-WRK-030c: the window that moves during a restore costs another one, and no Event', async () => {
    const away = reader.follower(expected);
    await away.catchUp();
    await say(25);
    await serving.service.lookAfterGroups();
    // Each time before a snapshot is fetched the Group goes on, past what that snapshot covers.
    let moves = 0;
    const restore = reader.restore.bind(reader);
    reader.restore = async (...asked) => {
      if (moves < 2) {
        moves += 1;
        await say(25);
        await serving.service.lookAfterGroups();
      }
      return restore(...asked);
    };
    const outcome = await away.catchUp();
    expect(outcome).toMatchObject({ ok: true, value: { headSequence: 76 } });
    expect(outcome.ok && outcome.value.restored).toBeGreaterThan(1);
    const state = await reader.state();
    expect(away.fold.stateHash()).toBe(state.ok && state.value.stateHash);
    expect(away.fold.throughSequence).toBe(76);
  });

  it('GDE-7: a snapshot that fails a check leaves the follower where it was', async () => {
    const stranger = { type: 'service' as const, id: 'urn:test:another' };
    const away = reader.follower({ ...expected, authority: stranger });
    await away.catchUp();
    await say(25);
    await serving.service.lookAfterGroups();
    const before = away.fold;
    expect(await away.catchUp()).toMatchObject({
      ok: false,
      problem: { kind: 'unreadable', message: 'the snapshot is not restored: signer' },
    });
    expect([away.fold, away.fold.throughSequence]).toEqual([before, 1]);
  });
});
