// A member of a running service asks for a snapshot, restores from it over the network and goes on with what comes after.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import { GroupReader } from '../../src/worker/group-reader.ts';
import type { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { id } from '../support/mission.ts';
import { newMission, newPlace, Serving, sign, type Place } from '../support/serving.ts';

describe('restoring from a running service', () => {
  let place: Place;
  let serving: Serving;
  beforeEach(async () => {
    place = await newPlace('sqlite');
    serving = await Serving.start(place.environment);
  });
  afterEach(async () => {
    await serving.service.stop();
    place.giveBack();
  });

  it('MWP-MSN-009d, GDE-7: snapshot plus tail is the state that the authority reports', async () => {
    const { mission, client, expected } = await scene();
    const reader = new GroupReader(client, mission.groupId);
    const taken = await reader.takeSnapshot();
    if (!taken.ok) throw new Error(taken.problem.message);
    const { snapshotArtifactHash } = taken.value.details;
    expect((await reader.takeSnapshot()).ok).toBe(true);
    const conversationId = await mainConversation(reader);
    await say(client, mission.groupId, conversationId);
    const restored = await reader.restore({ ...expected, snapshotArtifactHash });
    if (!restored.ok || !restored.value.ok) throw new Error(JSON.stringify(restored));
    const { fold } = restored.value;
    const tail = await reader.events(fold.throughSequence);
    const state = await reader.state();
    if (!tail.ok || !state.ok) throw new Error('the service does not answer');
    expect(tail.value.map((event) => fold.add(event))).toEqual(['folded']);
    expect(fold.stateHash()).toBe(state.value.stateHash);
    // And what was altered on the way is not restored.
    const another = { ...expected, snapshotArtifactHash: `sha256:${'0'.repeat(64)}` };
    expect(await reader.restore(another)).toEqual({ ok: true, value: { ok: false, fault: 'artifact-hash' } });
    expect(readdirSync(join(String(place.environment['MWP_DATA_DIR']), 'blobs', 'snapshots')).length).toBeGreaterThan(
      1,
    );
  });

  it('of no Group there is none, and a refusal of the stream is told as one', async () => {
    const { client, expected } = await scene();
    const reader = new GroupReader(client, 'urn:test:group:none');
    expect(await reader.takeSnapshot()).toMatchObject({ ok: false, problem: { code: 'GROUP_NOT_FOUND' } });
    expect(await reader.restore(expected)).toMatchObject({ ok: false, problem: { code: 'GROUP_NOT_FOUND' } });
    expect(await client.stream('/groups/urn%3Atest%3Agroup%3Anone/snapshots/urn%3Ax/state')).toMatchObject({
      ok: false,
      problem: { kind: 'refused', code: 'GROUP_NOT_FOUND' },
    });
  });

  async function mainConversation(reader: GroupReader): Promise<string> {
    const group = await reader.group();
    if (!group.ok) throw new Error(group.problem.message);
    return group.value.group.mainConversationId;
  }

  async function say(client: AuthorityClient, groupId: string, conversationId: string): Promise<void> {
    const payload = { messageId: id(), conversationId, content: 'It goes on.' };
    const draft = { kind: 'message.post' as const, groupId, payload };
    const said = await client.submit(signCommand(serving.olga, draft, { membershipEpoch: 1 }, Date.now()));
    if (!said.ok) throw new Error(said.problem.message);
  }

  async function scene() {
    await serving.people();
    const client = serving.client(serving.olga);
    const mission = newMission(serving.olga, serving.ada);
    const created = await client.logIn().then(() => client.submit(sign(serving.olga, mission.creation())));
    if (!created.ok) throw new Error(created.problem.message);
    const { organizations } = serving.service.store;
    const organization = (await organizations.bySlug('acme'))!;
    const { organizationId, authority } = organization;
    const keys = await organizations.bindings(organizationId, authority);
    const registry = registrySnapshot(
      organizationId,
      keys.map((key) => ({ ...key, history: [] })),
    );
    return { mission, client, expected: { organizationId, authority, evidence: evidenceFromSnapshot(registry) } };
  }
});
