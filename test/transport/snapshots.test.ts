// Snapshots over HTTP: who takes them, who reads them, and that to everybody else there are none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SnapshotItem } from '../../src/worker/answers.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { restoreGroup } from '../../src/worker/restore.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { expectedBy, inChunks, MemoryBlobs } from '../support/snapshots.ts';
import { path, refusalIn, type Answer } from './api.ts';
import { playMission, TEXT, type PlayedMission } from './played-mission.ts';

const NONE = '404 INVALID_COMMAND';
const UNKNOWN = '404 GROUP_NOT_FOUND';

describe.each(STORES)('$name: snapshots', ({ open }) => {
  let opened: OpenedStore;
  const blobs = new MemoryBlobs();
  let played: PlayedMission;
  let carl: ActorKey;
  let eve: ActorKey;
  let iris: ActorKey;
  let taken: Answer;

  beforeAll(async () => {
    opened = await open();
    played = await playMission(opened.store, { snapshotBlobs: blobs });
    const { tenant, mission } = played;
    [eve, iris] = [await tenant.human('eve'), await tenant.human('iris')];
    const { organizations } = tenant.store;
    const { organizationId } = tenant.organization;
    const policy = await organizations.policy(organizationId);
    await organizations.changeRegistry(organizationId, {
      policy: { ...policy, version: policy.version + 1, auditors: [iris.principal] },
    });
    carl = await tenant.agent('carl');
    // From here on, so that it does not see the Group whole.
    await mission.join(carl);
    taken = await take(played.ada);
  });
  afterAll(() => opened.close());

  const take = async (key: ActorKey, group = played.group) =>
    played.api.org('POST', `${group}/snapshots`, { token: await played.api.tokenOf(key) });
  const item = ({ json }: Answer) => json as unknown as SnapshotItem;
  const one = (answer: Answer) => `/snapshots/${path(item(answer).snapshot.snapshotId)}`;
  const get = (key: ActorKey, below: string, group = played.group) => played.api.get(key, group + below);

  it('MWP-MSN-009: the Coordinator takes one, the owner and auditors are answered it while nothing was accepted since', async () => {
    expect(taken.status).toBe(201);
    for (const key of [played.ada, played.olga, iris]) {
      const again = await take(key);
      expect([again.status, again.text]).toEqual([200, taken.text]);
    }
    for (const below of ['/snapshots/latest', one(taken)]) {
      for (const key of [played.ada, played.olga, iris]) expect((await get(key, below)).text).toBe(taken.text);
    }
  });

  it('MWP-MSN-009d: what is answered and streamed restores, and holds no text', async () => {
    const { api, tenant, mission, olga } = played;
    const { snapshot, details } = item(taken);
    const state = await api.get(olga, details.statePath);
    expect([state.status, state.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    expect(state.text).not.toContain(TEXT);
    const outcome = await restoreGroup(
      { snapshot, admissionRecord: details.admissionRecord, state: () => inChunks([state.text]) },
      { ...expectedBy(tenant, mission.groupId), snapshotArtifactHash: details.snapshotArtifactHash },
    );
    const { json } = await api.get(olga, `${played.group}/state`);
    expect(outcome.ok && outcome.fold.stateHash()).toBe(json['stateHash']);
  });

  it('MWP-EVT-009c: to who does not see the Group whole there are none, and to strangers no Group', async () => {
    for (const below of ['/snapshots/latest', one(taken), `${one(taken)}/state`]) {
      const limited = await get(carl, below);
      const absent = await get(played.olga, '/snapshots/urn:test:none');
      expect(refusalIn(limited)).toBe(NONE);
      expect(timeless(limited)).toBe(timeless(absent));
      expect(refusalIn(await get(eve, below))).toBe(UNKNOWN);
      expect(refusalIn(await get(iris, below, '/groups/urn:test:none'))).toBe(UNKNOWN);
    }
    expect(refusalIn(await get(played.olga, '/snapshots/nothing'))).toBe(NONE);
    expect(refusalIn(await get(played.olga, '/snapshots/urn:test:none/state'))).toBe(NONE);
  });

  it('who is neither owner nor Coordinator nor auditor takes none', async () => {
    expect(refusalIn(await take(carl))).toBe('403 MEMBERSHIP_REQUIRED');
    expect(refusalIn(await take(eve))).toBe(UNKNOWN);
    expect(refusalIn(await take(iris, '/groups/urn:test:none'))).toBe(UNKNOWN);
    expect(refusalIn(await take(played.olga, '/groups/nothing'))).toBe(UNKNOWN);
    const { tenant, mission, ada } = played;
    const full = await tenant.agent('fay');
    await mission.accept(ada, 'membership.change', {
      principal: full.principal,
      roles: ['worker'],
      visibilityAfterSequence: 0,
    });
    expect(refusalIn(await take(full))).toBe('403 AUTH_FORBIDDEN');
    expect((await get(full, '/snapshots/latest')).status).toBe(200);
  });

  it('bytes that are gone are a fault and no stream, and ones that are spoilt break it off', async () => {
    const { tenant, olga } = played;
    const { snapshot } = item(taken);
    const key = `${tenant.organization.organizationId} ${snapshot.stateHash}`;
    const bytes = blobs.kept.get(key)!;
    blobs.kept.delete(key);
    expect(refusalIn(await get(olga, `${one(taken)}/state`))).toBe('500 INTERNAL_ERROR');
    blobs.kept.set(key, bytes);
    const pack = [...blobs.kept].find(([, kept]) => kept[0] === 0x1f)!;
    blobs.kept.set(pack[0], Buffer.concat([pack[1].subarray(0, -9), Buffer.alloc(9)]));
    await expect(get(olga, `${one(taken)}/state`)).rejects.toThrow();
    blobs.kept.set(...pack);
    expect((await get(olga, `${one(taken)}/state`)).status).toBe(200);
  });
});

const timeless = ({ text }: Answer) => text.replace(/"occurredAt":"[^"]*"/, '');
