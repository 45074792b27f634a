// A member of a running service that was away for longer than the online window: it comes back through a snapshot and has the
// state of one that never left, also while the window moves under it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

  it('MWP-WRK-030c: the window that moves around a restore costs another one, and no Event', async () => {
    const away = reader.follower(expected);
    await away.catchUp();
    await moveOn();
    // Before the first two fetches the Group goes on past what the named snapshot covers, first so far that its bytes are
    // removed; and once more between the third and what follows it.
    const rounds = [4, 1, 0];
    const answers: unknown[] = [];
    const restore = reader.restore.bind(reader);
    reader.restore = async (...asked) => {
      const round = answers.length;
      for (let moves = 0; moves < (rounds[round] ?? 0); moves += 1) await moveOn();
      const answer = await restore(...asked);
      answers.push(
        answer.ok ? answer.value.ok : answer.problem.kind === 'refused' ? answer.problem.status : answer.problem,
      );
      if (round === rounds.length - 1) await moveOn();
      return answer;
    };
    const outcome = await away.catchUp();
    expect(outcome).toMatchObject({ ok: true, value: { headSequence: 1 + 16 + 6 * 16, restored: 4 } });
    expect(answers).toEqual([404, true, true, true]);
    const state = await reader.state();
    expect(away.fold.stateHash()).toBe(state.ok && state.value.stateHash);
    expect(away.fold.throughSequence).toBe(113);
  });

  async function moveOn(): Promise<void> {
    await say(16);
    await serving.service.lookAfterGroups();
  }

  it('MWP-FND-023b, MWP-WRK-030c: with a restart on the way, and with what it kept lost, it comes to the same state', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mwp-follower-'));
    const resume = () => reader.keptFollower(expected, join(folder, 'group'));
    await (await resume()).catchUp();
    await moveOn();
    // The process ends with the snapshot restored and nothing after it read.
    const ended = await resume();
    const eventPage = reader.eventPage.bind(reader);
    reader.eventPage = (after, ...more) =>
      after === 1 ? eventPage(after, ...more) : Promise.reject(new Error('ended'));
    await say(3);
    await expect(ended.catchUp()).rejects.toThrow('ended');
    reader.eventPage = eventPage;
    const restarted = await resume();
    expect([restarted.cursor, ended.cursor]).toEqual([17, 17]);
    expect(await restarted.catchUp()).toEqual({ ok: true, value: { headSequence: 20, restored: 0 } });
    rmSync(join(folder, 'group'));
    const begun = await resume();
    expect(await begun.catchUp()).toEqual({ ok: true, value: { headSequence: 20, restored: 1 } });
    rmSync(folder, { recursive: true });
    const state = await reader.state();
    const reported = state.ok && state.value.stateHash;
    expect([restarted.fold.stateHash(), begun.fold.stateHash()]).toEqual([reported, reported]);
    expect([restarted.cursor, begun.cursor]).toEqual([20, 20]);
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
