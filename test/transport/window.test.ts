// The online window over HTTP: what a cursor below it is told, that others are served, and any range of the history.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSealedBodies } from '../../src/archive/segments/opened.ts';
import { sealNext } from '../../src/archive/segments/seal.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id } from '../support/mission.ts';
import { MemoryBlobs } from '../support/snapshots.ts';
import { path, refusalIn } from './api.ts';
import { playMission, type PlayedMission } from './played-mission.ts';

describe.each(STORES)('$name: the online window', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedMission;
  let carl: ActorKey;
  let all: { sequence: number }[];
  let sealedThrough: number;
  let said: Uint8Array;
  let first: { receipt: string; events: readonly string[] };

  beforeAll(async () => {
    opened = await open();
    const segments = new MemoryBlobs();
    const store = withSealedBodies(opened.store, segments);
    played = await playMission(store, { snapshotBlobs: new MemoryBlobs() });
    const { tenant, mission, ada, api } = played;
    carl = await tenant.agent('carl');
    await mission.join(carl);
    await mission.active(carl);
    const { olga, group } = played;
    const conversationId = (await api.get(olga, group)).json.group.mainConversationId;
    const payload = { messageId: id(), conversationId, content: 'Once is enough.' };
    said = tenant.sign(olga, { kind: 'message.post', groupId: mission.groupId, payload }, { membershipEpoch: 1 });
    const answer = await tenant.submitBytes(said, olga.principal);
    if (!answer.accepted) throw new Error(answer.refusal.message);
    first = { receipt: answer.receipt, events: answer.events };
    all = await items(ada, '/events?limit=200');
    await api.org('POST', `${played.group}/snapshots`, { token: await api.tokenOf(ada) });
    const { organizationId } = tenant.organization;
    sealedThrough = (await sealNext({ store, blobs: segments }, organizationId, mission.groupId, all.length))!
      .lastSequence;
    await mission.authorize();
  });
  afterAll(() => opened.close());

  const get = (key: ActorKey, below: string) => played.api.get(key, played.group + below);
  const items = async (key: ActorKey, below: string) =>
    (await get(key, below)).json['items'] as unknown as { sequence: number; eventId: string }[];

  it('MWP-WRK-030c: a full member below it is told in the error document, and where it is told there is a snapshot', async () => {
    const { api, tenant, mission, olga } = played;
    for (const below of ['/events', '/events?after=1&limit=5', `/events?after=${sealedThrough - 1}`]) {
      const answer = await get(olga, below);
      expect(refusalIn(answer)).toBe('410 CURSOR_TOO_OLD');
      const check = checkDocument('error', answer.json);
      if (!check.valid) throw new Error(check.fault);
      const { snapshotArtifactHash, details = {}, retryable } = check.document;
      expect(retryable).toBe(false);
      const uri = String(details['uri']);
      expect(uri).toMatch(
        new RegExp(`^/v1/orgs/${tenant.organization.slug}/groups/${path(mission.groupId)}/snapshots/`),
      );
      const snapshot = await api.ask('GET', uri, { token: await api.tokenOf(olga) });
      expect(snapshot.json).toMatchObject({
        snapshot: {
          snapshotId: details['snapshotId'],
          throughSequence: details['throughSequence'],
          stateHash: details['stateHash'],
        },
        details: { snapshotArtifactHash },
      });
      const tail = await items(olga, `/events?after=${Number(details['throughSequence'])}`);
      expect(tail.map(({ sequence }) => sequence)).toEqual([all.length + 1]);
    }
  });

  it('MWP-MSN-012: who does not see the Group whole reads on as before, and learns of no snapshot', async () => {
    const seen = await items(carl, '/events?limit=200');
    expect(seen[0]?.sequence).toBeGreaterThan(1);
    expect(seen).toEqual([...all.slice(seen[0]!.sequence - 1), expect.anything()]);
    expect((await get(carl, '/history?from=1&limit=200')).json['items']).toEqual(seen);
  });

  it('MWP-MSN-009a: the history has every range, in pages, and each Event by its id', async () => {
    const { olga } = played;
    expect(await items(olga, `/history?from=1&to=${all.length}&limit=200`)).toEqual(all);
    const begun = await get(olga, '/history?from=2&to=9&limit=5');
    expect(begun.json).toMatchObject({ items: all.slice(1, 6), throughSequence: 6, next: '7' });
    const rest = await get(olga, `/history?from=${begun.json['next']}&to=9&limit=5`);
    expect(rest.json).toEqual({ items: all.slice(6, 9), throughSequence: 9, headSequence: all.length + 1 });
    for (const event of all.slice(0, 3) as { sequence: number; eventId?: string }[]) {
      expect((await get(olga, `/events/${path(event.eventId ?? '')}`)).json).toEqual(event);
    }
    for (const query of ['from=0', 'to=0', 'from=x', 'from=5&to=4', 'from=1.5', `from=${'9'.repeat(16)}`, 'limit=0']) {
      expect(refusalIn(await get(olga, `/history?${query}`))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
    expect((await get(olga, '/history?from=9999')).json['items']).toEqual([]);
  });

  it('MWP-EVT-003a: a repeated Command that is sealed is answered with the same receipt and Events as at first', async () => {
    const { tenant, olga } = played;
    const again = await tenant.submitBytes(said, olga.principal);
    expect(again).toMatchObject({ accepted: true, duplicate: true });
    expect(again.accepted && { receipt: again.receipt, events: again.events }).toEqual(first);
    const { actionId } = JSON.parse(String(first.receipt)) as { actionId: string };
    const { json } = await played.api.get(olga, `/receipts/${path(actionId)}`);
    expect(json['events']).toEqual(first.events.map((body) => JSON.parse(body) as object));
  });
});
