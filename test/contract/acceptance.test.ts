// One acceptance is one transaction: what the port says about `acceptTransition`, against both engines.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { one } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { Transition } from '../../src/store/port.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Behind } from './behind.ts';
import { lookBehind } from './behind.ts';
import {
  AGENT,
  AUTHORITY,
  HUMAN,
  append,
  binding,
  hash,
  newGroupId,
  newTenant,
  planFor,
  transitionOf,
  uuid,
} from './samples.ts';

describe.each(STORES)('acceptance on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    behind = lookBehind(opened);
    org = await newTenant(opened.store);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  /** A transition onto the Group's head, spoilt by `spoil`: must be refused as a conflict and leave every table alone. */
  async function expectConflict(groupId: GroupId, spoil: (write: Transition) => void): Promise<void> {
    const before = await behind.rowCounts();
    const plan = planFor([groupId]);
    const refused = opened.store.acceptTransition(org, plan, async ({ now, heads }) => {
      const write = transitionOf({ groupId, head: heads.get(groupId), plan, now });
      spoil(write);
      return { write, result: undefined };
    });
    await expect(refused).rejects.toMatchObject({ name: 'StoreFault', kind: 'conflict' });
    expect(await behind.rowCounts()).toEqual(before);
  }

  it('GDE-1: everything that one accepted Command writes can be read afterwards, as written', async () => {
    const groupId = newGroupId();
    const written = await append(opened.store, org, groupId, {
      events: 2,
      policyEntries: 2,
      texts: [{ commitment: 'c1', value: '"\\u0000 text ☃"' }],
    });
    await opened.store.read(org, async (reader) => {
      expect(await reader.stream(groupId)).toEqual(written.streams[0]?.head);
      expect(await reader.events(groupId, 0, 10)).toEqual(written.events);
      expect(await reader.events(groupId, 1, 10)).toEqual(written.events.slice(1));
      expect(await reader.event(written.events[0]?.eventId ?? '')).toEqual(written.events[0]);
      expect(await reader.eventsById(written.receipt.eventIds)).toEqual(written.events);
      expect(await reader.receipt(written.receipt)).toEqual(written.receipt);
      expect(await reader.command(written.command.signingHash)).toEqual(written.command);
      expect(await reader.admission(written.command.signingHash)).toEqual(written.admissions[0]);
      expect(await reader.policyLog(groupId, 0, 10)).toEqual(written.policyLog);
      expect(await reader.policyLog(groupId, 1, 10)).toEqual(written.policyLog.slice(1));
      expect(await reader.texts(groupId, ['c1', 'c2'])).toEqual(new Map([['c1', '"\\u0000 text ☃"']]));
      expect(await reader.texts(newGroupId(), ['c1'])).toEqual(new Map());
    });
  });

  it('MWP-EVT-003a: the next acceptance finds the receipt and the admission records that it asks for', async () => {
    const groupId = newGroupId();
    const written = await append(opened.store, org, groupId);
    const plan = planFor([groupId, newGroupId()], {
      receipt: written.receipt,
      signingHashes: [written.command.signingHash, hash('another')],
    });
    await opened.store.acceptTransition(org, plan, async (now) => {
      expect(now.receipt).toEqual(written.receipt);
      expect(now.admissions).toEqual(written.admissions);
      expect([...now.heads.values()]).toEqual([written.streams[0]?.head]);
      expect(now.policy).toEqual(DEFAULT_POLICY);
      expect(now.registryRevision).toBe(1);
      expect(now.now).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      return { result: undefined };
    });
  });

  it('MWP-EVT-004b: an exception out of decide is thrown on and leaves no row in any table', async () => {
    const before = await behind.rowCounts();
    const failure = new Error('a broken invariant');
    const failed = opened.store.acceptTransition(org, planFor([newGroupId()]), () => Promise.reject(failure));
    await expect(failed).rejects.toBe(failure);
    expect(await behind.rowCounts()).toEqual(before);
  });

  it('MWP-EVT-004b: a decision without a write leaves no row in any table', async () => {
    const before = await behind.rowCounts();
    const result = await opened.store.acceptTransition(org, planFor([newGroupId()]), async () => ({ result: 'no' }));
    expect(result).toBe('no');
    expect(await behind.rowCounts()).toEqual(before);
  });

  it('an Organization that does not exist is a fault, not an empty one', async () => {
    const nowhere = 'https://nowhere.example' as OrganizationId;
    const failed = opened.store.acceptTransition(nowhere, planFor([newGroupId()]), async () => ({ result: 1 }));
    await expect(failed).rejects.toMatchObject({ name: 'StoreFault', kind: 'corrupt' });
  });

  describe('what does not hold is a conflict, and leaves no row in any table:', () => {
    let groupId: GroupId;
    let first: Transition;
    beforeAll(async () => {
      groupId = newGroupId();
      first = await append(opened.store, org, groupId, {
        events: 2,
        policyEntries: 1,
        aggregates: [{ kind: 'mission', id: 'm1', document: missionDocument('m1') }],
      });
    });

    it('a head that is not where it was', () =>
      expectConflict(groupId, ({ streams }) => (streams[0] as { expectedPosition: number }).expectedPosition--));
    it('MWP-FND-013b: a Group that is created a second time', () =>
      expectConflict(groupId, (write) => {
        const again = transitionOf({ groupId, plan: planFor([groupId]), now: write.acceptedAt });
        Object.assign(write, { streams: again.streams, events: again.events });
      }));
    it('a mission-tree root that changes', () =>
      expectConflict(
        groupId,
        ({ streams }) => ((streams[0] as { head: object }).head = { ...streams[0]?.head, rootGroupId: 'x' } as never),
      ));
    it('MWP-EVT-005a: a position that leaves a gap', () =>
      expectConflict(groupId, ({ streams, events }) => {
        (streams[0]?.head as { position: number }).position += 1;
        (events[0] as { position: number }).position += 1;
      }));
    it('MWP-EVT-005a: a head that names no Event', () =>
      expectConflict(groupId, ({ streams }) => ((streams[0]?.head as { position: number }).position += 1)));
    it('MWP-EVT-005a: an Event beyond its head', () =>
      expectConflict(groupId, ({ events }) => {
        const last = events[0] as Transition['events'][number];
        events.push({ ...last, eventId: uuid(), position: last.position + 1 });
      }));
    it('a position that is taken', () =>
      expectConflict(groupId, ({ events }) => ((events[0] as { position: number }).position = 1)));
    it('an Event id that is taken', () =>
      expectConflict(
        groupId,
        ({ events }) => ((events[0] as { eventId: string }).eventId = first.receipt.primaryEventId),
      ));
    it('MWP-EVT-003a: an Action ID that the actor has used', () =>
      expectConflict(groupId, ({ receipt }) => (receipt.actionId = first.receipt.actionId)));
    it('MWP-ADM-004a: a second admission record of one signing hash', () =>
      expectConflict(groupId, ({ admissions }) =>
        admissions.push({ ...(admissions[0] as (typeof admissions)[number]), admissionRecordId: uuid() }),
      ));
    it('MWP-ADM-004a: one admission record id for two signing hashes', () =>
      expectConflict(groupId, ({ admissions }) =>
        admissions.push({ ...(admissions[0] as (typeof admissions)[number]), signingHash: hash(uuid()) }),
      ));
    it('a policy entry that leaves a gap', () =>
      expectConflict(groupId, ({ policyLog, acceptedAt }) => {
        const plan = planFor([groupId]);
        const head = first.streams[0]?.head;
        const skipping = transitionOf({ groupId, plan, now: acceptedAt, head, policyEntries: 2 });
        policyLog.push(skipping.policyLog[1] as (typeof policyLog)[number]);
      }));
    it('an aggregate whose version moved on', () =>
      expectConflict(groupId, (write) => {
        write.aggregates.push(...changes(groupId, { version: 2 }));
      }));
    it('an aggregate that is created a second time', () =>
      expectConflict(groupId, (write) => {
        write.aggregates.push(...changes(groupId, { version: 0 }));
      }));
    it('an aggregate that moves to another Group', () =>
      expectConflict(groupId, (write) => {
        write.aggregates.push(...changes(newGroupId(), { version: 1 }));
      }));
    it('MWP-FND-013b: a second Mission in one Group', () =>
      expectConflict(groupId, (write) => {
        write.aggregates.push(...changes(groupId, { id: 'm2' }));
      }));
    it('a registry addition that the registry refuses', () =>
      expectConflict(groupId, (write) => {
        write.registry = { principals: [], bindings: [binding(HUMAN, 'urn:key:x', 'X')], validity: [] };
      }));
  });

  it('a change raises the version by one, and is read as written', async () => {
    const groupId = newGroupId();
    const document = { ...missionDocument('m9'), odd: [0.1, -0, 1e21, '\u0000', '\ud83d\ude00'] };
    await append(opened.store, org, groupId, { aggregates: [{ kind: 'mission', id: uuidOf('m9'), document }] });
    const changed = { ...document, odd: null };
    await append(opened.store, org, groupId, {
      aggregates: [{ kind: 'mission', id: uuidOf('m9'), version: 1, document: changed }],
    });
    await opened.store.read(org, async (reader) => {
      const { aggregates } = await reader.load([one('mission', uuidOf('m9'))]);
      expect(aggregates).toEqual([{ kind: 'mission', id: uuidOf('m9'), groupId, version: 2, document: changed }]);
      expect(await reader.aggregateHashes(groupId)).toEqual([
        { kind: 'mission', id: uuidOf('m9'), hash: hash(changed) },
      ]);
    });
  });

  it('one active execution lease per WorkItem, one active Coordinator lease per Mission; an ended one makes room', async () => {
    const groupId = newGroupId();
    const lease = (id: string, leaseType: string, state: string, version = 0) => ({
      kind: 'lease' as const,
      id,
      version,
      document: {
        leaseType,
        state,
        missionId: `mission of ${groupId}`,
        holderAgentId: AGENT.id,
        ...(leaseType === 'execution' && { workItemId: `item of ${groupId}` }),
      },
    });
    for (const type of ['execution', 'coordinator']) {
      const [first, second] = [uuid(), uuid()];
      await append(opened.store, org, groupId, { aggregates: [lease(first, type, 'active')] });
      const twice = append(opened.store, org, groupId, { aggregates: [lease(second, type, 'active')] });
      await expect(twice).rejects.toMatchObject({ kind: 'conflict' });
      const replaced = [lease(second, type, 'active'), lease(first, type, 'released', 1)];
      await append(opened.store, org, groupId, { aggregates: replaced });
    }
  });

  it('several Groups move in one transition, and all of it or nothing stays', async () => {
    const [a, b] = [newGroupId(), newGroupId()].sort() as [GroupId, GroupId];
    const before = await behind.rowCounts();
    const plan = planFor([a, b]);
    const both = (spoil: boolean) =>
      opened.store.acceptTransition(org, plan, async ({ now }) => {
        const write = transitionOf({ groupId: a, plan, now });
        const other = transitionOf({ groupId: b, plan, now });
        write.streams.push(...other.streams);
        write.events.push(...other.events);
        if (spoil) (other.events[0] as { eventId: string }).eventId = write.events[0]?.eventId ?? '';
        return { write, result: undefined };
      });
    await expect(both(true)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await behind.rowCounts()).toEqual(before);
    await both(false);
    await opened.store.read(org, async (reader) => {
      expect((await reader.stream(a))?.position).toBe(1);
      expect((await reader.stream(b))?.position).toBe(1);
    });
  });

  it('a Card brings principals, keys and their validity, and raises the registry revision by one', async () => {
    const tenant = await newTenant(opened.store);
    const plan = planFor([], { organization: 'exclusive' });
    const streamId = 'card urn:agent:9';
    const agent = { type: 'agent' as const, id: 'urn:agent:9' };
    await opened.store.acceptTransition(tenant, plan, async ({ now }, acceptance) => {
      expect(await acceptance.streamHeads([streamId])).toEqual(new Map());
      const write = transitionOf({ groupId: streamId, plan, now });
      write.streams.forEach((advance) => (advance.streamKind = 'organization'));
      write.events.forEach((event) => (event.groupId = ''));
      write.registry = {
        principals: [{ principal: agent, displayName: 'nine' }],
        bindings: [binding(agent, 'urn:key:9', '9'.repeat(43))],
        validity: [{ keyId: 'urn:key:9', recordedAt: now, validUntil: '2027-01-01T00:00:00Z' }],
      };
      return { write, result: undefined };
    });
    const evidence = (await opened.store.organizations.keyEvidence(tenant, ['urn:key:9'])).get('urn:key:9');
    expect(evidence).toMatchObject({
      registryRevision: 2,
      binding: binding(agent, 'urn:key:9', '9'.repeat(43)),
      validity: [{ sequence: 1, validUntil: '2027-01-01T00:00:00Z' }],
    });
    await opened.store.read(tenant, async (reader) => expect(await reader.streamIds()).toEqual([streamId]));
  });

  it('the same Signed Document in a second Command keeps the bytes that were accepted first', async () => {
    const groupId = newGroupId();
    const document = {
      signingHash: hash('document'),
      documentKind: 'artifact',
      groupId,
      keyId: 'urn:key:1',
      principal: AUTHORITY,
      body: '{"first":true}',
    };
    for (const body of [document.body, '{"first":false}']) {
      const plan = planFor([groupId]);
      await opened.store.acceptTransition(org, plan, async ({ now, heads }) => {
        const write = transitionOf({ groupId, head: heads.get(groupId), plan, now });
        write.documents.push({ ...document, body, commandHash: write.command.signingHash });
        return { write, result: undefined };
      });
    }
    await opened.store.read(org, async (reader) => {
      expect(await reader.document(document.signingHash)).toMatchObject({ body: document.body });
    });
  });

  it('further Groups must sort after the ones that are held', async () => {
    const [a, b, c] = [newGroupId(), newGroupId(), newGroupId()].sort() as [GroupId, GroupId, GroupId];
    await append(opened.store, org, c);
    await opened.store.acceptTransition(org, planFor([b]), async ({ heads }, acceptance) => {
      const locked = await acceptance.lockGroups([b, c]);
      expect([...locked.keys()]).toEqual([c]);
      expect(heads.get(c)?.position).toBe(1);
      await expect(acceptance.lockGroups([a])).rejects.toThrow(/sorts before/);
      return { result: undefined };
    });
  });

  it('a decision may read more, and texts of one Group, inside its transaction', async () => {
    const groupId = newGroupId();
    await append(opened.store, org, groupId, {
      texts: [{ commitment: 'c', value: '1' }],
      aggregates: [{ kind: 'session', id: uuidOf('s'), document: { agentId: 's', sessionEpoch: 1 } }],
    });
    await opened.store.acceptTransition(org, planFor([groupId]), async (_, acceptance) => {
      expect((await acceptance.load([one('session', uuidOf('s'))])).aggregates).toHaveLength(1);
      expect(await acceptance.texts(groupId, ['c'])).toEqual(new Map([['c', '1']]));
      expect(await acceptance.texts(newGroupId(), ['c'])).toEqual(new Map());
      expect((await acceptance.streamHeads([groupId])).get(groupId)?.position).toBe(1);
      return { result: undefined };
    });
  });

  function changes(group: string, { id = 'm1', version = 0 }: { id?: string; version?: number }) {
    const aggregates = [{ kind: 'mission' as const, id, version, groupId: group, document: missionDocument(id) }];
    return transitionOf({ groupId: group, plan: planFor([]), now: '2026-01-01T00:00:00.000Z', aggregates }).aggregates;
  }
});

function missionDocument(missionId: string): Record<string, unknown> {
  return { mission: { missionId, state: 'active', missionOwner: HUMAN }, details: {} };
}

function uuidOf(name: string): string {
  return `urn:test:${name}`;
}
