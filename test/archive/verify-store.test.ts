// What the service wrote is fault-free, whatever was played; and what is no fault is told as a note.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Findings } from '../../src/archive/findings.ts';
import { verifyOrganization, type StreamReport } from '../../src/archive/verify-organization.ts';
import type { Reader } from '../../src/store/port.ts';
import { MAX_JSON_DEPTH, parseStrictJson } from '../../src/wire/strict-json.ts';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Tenant } from '../support/tenant.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { playOrganization } from './played-organization.ts';
import { Vandal } from './vandal.ts';

async function reportsOf({ store, organization: own }: Tenant, organization = own) {
  const streams: StreamReport[] = [];
  const whole = await store.read(organization.organizationId, (reader) =>
    verifyOrganization(organization, reader, { told: (report) => streams.push(report) }),
  );
  return { whole, streams, sentences: [...streams.flatMap((stream) => stream.sentences), ...whole.sentences] };
}

describe.each(STORES)('verify on $name', ({ open }) => {
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(() => opened.close());

  it('finds nothing where nothing was touched, and tells the state hash that members see', async () => {
    const { tenant, mission } = await playOrganization(opened.store);
    const { whole, streams, sentences } = await reportsOf(tenant);
    expect([sentences, whole.faults]).toEqual([[], 0]);
    expect(streams.flatMap(({ notes }) => notes)).toEqual([]);
    expect(streams).toHaveLength(whole.streams);
    expect(whole.heads.map(({ streamId }) => streamId)).toEqual(streams.map(({ streamId }) => streamId));
    const group = streams.find(({ streamId }) => streamId === mission.groupId);
    expect(group?.stateHash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('a history of more than one page is read to its end', async () => {
    const tenant = await Tenant.create(opened.store);
    const [owner, coordinator] = [await tenant.human('olga'), await tenant.agent('coordinator')];
    const budget = { currency: 'EUR', modelTokenLimit: 10_000_000, toolCallLimit: 1_000_000 };
    const mission = await Mission.create(tenant, owner, coordinator, { budget });
    for (let round = 0; round < 13; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => mission.authorize()));
    }
    const { whole, sentences } = await reportsOf(tenant);
    expect([sentences, whole.faults, whole.events]).toEqual([[], 0, 263]);
  });

  it('reads Events that are deeper and larger than any Command may be', async () => {
    const tenant = await Tenant.create(opened.store);
    const [owner, coordinator] = [await tenant.human('olga'), await tenant.agent('coordinator')];
    const mission = await Mission.create(tenant, owner, coordinator);
    const read = <Result>(what: (reader: Reader) => Promise<Result>) =>
      tenant.store.read(tenant.organization.organizationId, what);
    const [conversation] = await read((reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    const conversationId = conversation?.id ?? '';
    const say = (messageId: string, ...content: unknown[]) =>
      mission.accept(owner, 'message.post', { messageId, conversationId, content });
    const levels = MAX_JSON_DEPTH - 5; // a Command, its payload, content, part and data stand around
    const data = { a: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown };
    await say('urn:test:message:deep', { type: 'data_ref', schema: 'urn:test:schema', data });
    const part = (length: number) => ({ type: 'text', text: 'x'.repeat(length) });
    await say('urn:test:message:large', ...Array<object>(10).fill(part(100_000)), part(47_250));
    const events = await read((reader) => reader.events(mission.groupId, 1, 10));
    const [deep, large] = events.map(({ body }) => Buffer.from(body, 'utf8'));
    expect(parseStrictJson(deep!)).toEqual({ ok: false, fault: 'too-deep' });
    expect(parseStrictJson(large!)).toEqual({ ok: false, fault: 'too-large' });
    const { whole, sentences } = await reportsOf(tenant);
    expect([sentences, whole.faults]).toEqual([[], 0]);
  });

  it('MWP-ADM-014b: Events of a service that is not the authority are faults, though nothing else of them is wrong', async () => {
    const { tenant, mission } = await playOrganization(opened.store);
    const { owner, coordinator } = mission;
    const usurped = { ...tenant.organization, authority: tenant.organization.identity };
    const draft = Mission.draft(tenant, owner, coordinator);
    const bytes = tenant.sign(owner, draft.creation());
    const submission = await tenant.authority.submit(usurped, bytes, { principal: owner.principal });
    expect(submission.accepted).toBe(true);
    const reportIn = ({ streams }: Awaited<ReturnType<typeof reportsOf>>) =>
      streams.find(({ streamId }) => streamId === draft.groupId)?.sentences;
    // Signed, admitted, chained and received without a fault, were that service the authority.
    expect(reportIn(await reportsOf(tenant, usurped))).toEqual([]);
    expect(reportIn(await reportsOf(tenant))).toEqual([
      'events: position 1: the Event: admission: record-binding-mismatch',
      expect.stringMatching(/^commands: .*: admission: log-authentication-failed$/),
      expect.stringMatching(/^receipts: /),
    ]);
  });

  describe('MWP-ADM-008c: a key that ended', () => {
    const BEFORE_ALL = '2020-01-02T00:00:00.000Z';
    const end = (tenant: Tenant, { keyId }: ActorKey, recordedAt: string) =>
      tenant.store.organizations.changeRegistry(tenant.organization.organizationId, {
        validity: [{ keyId, recordedAt, revokedAt: BEFORE_ALL }],
      });

    it('by a record of after the admissions is a note, and no fault', async () => {
      const { tenant, mission } = await playOrganization(opened.store);
      await end(tenant, mission.coordinator, '2126-01-01T00:00:00.000Z');
      const { streams, sentences } = await reportsOf(tenant);
      expect(sentences).toEqual([]);
      const group = streams.find(({ streamId }) => streamId === mission.groupId);
      expect(group?.notes).toEqual([
        `${mission.coordinator.keyId} was revoked later; what it signed before that stands`,
      ]);
    });

    it('by a record of before the admissions is a fault: nothing could have been admitted then', async () => {
      const { tenant, mission } = await playOrganization(opened.store);
      await end(tenant, mission.coordinator, BEFORE_ALL);
      const { sentences } = await reportsOf(tenant);
      expect(sentences).toContainEqual(expect.stringMatching(/^commands: .*: key-resolution: key-revoked$/));
    });

    it('excuses no signature: a changed Command under a key revoked later is a fault', async () => {
      const { tenant, mission } = await playOrganization(opened.store);
      await end(tenant, mission.coordinator, '2126-01-01T00:00:00.000Z');
      const vandal = await Vandal.over(opened);
      await vandal.run(`UPDATE {commands} SET body = replace(body, '"correlationId":"urn:uuid', '"correlationId":"urn:test')
        WHERE kind = 'work.authorize'`);
      await vandal.close();
      const { sentences } = await reportsOf(tenant);
      expect(sentences).toContainEqual(expect.stringMatching(/^commands: .*: key-resolution: key-revoked$/));
    });
  });
});

describe('findings', () => {
  it('of one stream are bounded: the first ones are told, and how many more there are', () => {
    const findings = new Findings();
    for (let fault = 1; fault <= 1_000; fault += 1) findings.fault(`fault ${fault}`);
    expect(findings.count).toBe(1_000);
    expect(findings.sentences()).toHaveLength(21);
    expect(findings.sentences().at(-1)).toBe('and 980 faults more');
  });
});
