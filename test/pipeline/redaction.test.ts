// What becomes of a redacted Message: its Events are marked with the decision, renditions go out in their places, and no
// moment at which a process dies or two of them meet lets an original through.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { replayPage } from '../../src/delivery/replay.ts';
import { deliverable, RenditionsMissing } from '../../src/delivery/rendered.ts';
import { Renditions, type RenditionParts } from '../../src/delivery/renditions.ts';
import { sightOf } from '../../src/delivery/sight.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import { renditionOf } from '../../src/protocol/documents/rendition.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import type { Reader } from '../../src/store/port.ts';
import { verifyDocument } from '../../src/trust/verify.ts';
import { chainNext, chainStart } from '../../src/wire/chain.ts';
import { signingHash } from '../../src/trust/signing.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { id, Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { expectedBy } from '../support/snapshots.ts';
import { Tenant } from '../support/tenant.ts';

const SECRET = 'the customer is called Quirinus';

describe.each(STORES)('redaction on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let mission: Mission;
  let owner: ActorKey;
  let worker: ActorKey;
  let conversationId: string;

  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    tenant = await Tenant.create(opened.store);
    owner = await tenant.human('olga');
    worker = await tenant.agent('worker');
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    await mission.join(worker);
    conversationId = await read(async (reader) => {
      const { aggregates } = await reader.load([{ read: 'one', kind: 'group', id: mission.groupId }]);
      return (aggregates[0]?.document as { mainConversationId: string }).mainConversationId;
    });
  });
  afterEach(async () => {
    await tenant.expectReplayEquivalence();
    expect(tenant.alarms).toEqual([]);
  });

  const read = <Result>(work: (reader: Reader) => Promise<Result>) =>
    tenant.store.read(tenant.organization.organizationId, work);

  const say = async () => {
    const messageId = id();
    await mission.accept(worker, 'message.post', { messageId, conversationId, content: SECRET });
    return messageId;
  };
  const correction = (messageId: string) => ({
    amendmentId: id(),
    messageId,
    reason: 'a typo',
    replacementContent: `${SECRET}!`,
  });
  const redaction = (messageId: string) => ({ amendmentId: id(), messageId, reason: 'it names a customer' });
  const redact = (messageId: string) => mission.accept(owner, 'message.redact', redaction(messageId));

  function renditionsOver(more: Partial<RenditionParts> = {}): Renditions {
    const signers = { signerOf: () => Promise.resolve(tenant.keyOf(tenant.organization.authority).signer) };
    return new Renditions({ store: tenant.store, signers, ...more });
  }

  /** The whole Group as a member gets it. */
  function replay(renditions = renditionsOver(), principal = owner.principal): Promise<Event[]> {
    const { organization } = tenant;
    return renditions.read(organization.organizationId, async (reader) => {
      const sight = await sightOf(reader, mission.groupId, principal);
      if (isRefusal(sight)) throw new Error(sight.message);
      const page = await replayPage(reader, mission.groupId, { organization, sight }, { after: 0, limit: 1_000 });
      return page.bodies.map((body) => JSON.parse(body) as Event);
    });
  }

  const originals = () => read((reader) => reader.events(mission.groupId, 0, 1_000));
  const marked = () => read((reader) => reader.withheldEvents(mission.groupId, 1, 1_000_000));

  it('MWP-MSN-009c: marks the Event of the Message and those of its amendments, and no other', async () => {
    const [messageId, other] = [await say(), await say()];
    await mission.accept(worker, 'message.correct', correction(messageId));
    await mission.accept(worker, 'message.correct', correction(other));
    await mission.accept(worker, 'message.retract', { amendmentId: id(), messageId, reason: SECRET });
    const { events } = await redact(messageId);
    const speaking = (await originals()).filter(
      ({ kind, body }) => kind.startsWith('message.') && body.includes(messageId),
    );
    expect(speaking.map(({ kind }) => kind)).toEqual([
      'message.posted',
      'message.corrected',
      'message.retracted',
      'message.redacted',
    ]);
    const marks = await marked();
    expect(marks.map(({ eventId }) => eventId)).toEqual(speaking.slice(0, 3).map(({ eventId }) => eventId));
    for (const { rendition, ...mark } of marks) {
      expect(rendition).toBeDefined();
      expect(mark).toMatchObject({ cause: 'redacted', orderedBy: events[0]?.eventId, groupId: mission.groupId });
    }
  });

  it('MWP-MSN-023, MWP-MSN-009c: others get a rendition of the same id and sequence, believed and admitted like an Event', async () => {
    const messageId = await say();
    await mission.accept(worker, 'message.correct', correction(messageId));
    await redact(messageId);
    const rows = await originals();
    const events = await replay();
    expect(JSON.stringify(events)).not.toContain('Quirinus');
    expect(events.map(({ sequence }) => sequence)).toEqual(rows.map(({ position }) => position));
    const evidence = expectedBy(tenant, mission.groupId).evidence;
    let renditions = 0;
    for (const [at, event] of events.entries()) {
      const original = JSON.parse(rows[at]!.body) as Event;
      const standsFor = renditionOf(event);
      if (!standsFor) {
        expect(event).toEqual(original);
        continue;
      }
      renditions += 1;
      expect(standsFor).toMatchObject({ signingHash: rows[at]!.signingHash, occurredAt: original.occurredAt });
      const { payload, extensions: _, occurredAt: _time, signature: _signature, ...same } = event;
      expect(original).toMatchObject(same);
      expect(Object.keys(payload)).not.toContain('contentSalt');
      const message = payload['message'] ?? payload['amendment'];
      expect(checkDocument('message', message)).toMatchObject({ valid: true });
      const { organizationId } = tenant.organization;
      expect(await verifyDocument('event', { value: event }, organizationId, evidence)).toMatchObject({ ok: true });
      const admission = await read((reader) => reader.admission(signingHash(event)));
      expect(admission).toMatchObject({ documentKind: 'event', streamId: `renditions ${mission.groupId}` });
    }
    expect(renditions).toBe(2);
  });

  it('MWP-MSN-009c: what others get folds to the same state, and chains to the same head over the original hashes', async () => {
    const messageId = await say();
    await mission.accept(worker, 'message.correct', correction(messageId));
    await redact(messageId);
    const { organizationId } = tenant.organization;
    const stored = (await originals()).map(({ body }) => JSON.parse(body) as Event);
    const events = await replay();
    expect(events).not.toEqual(stored);
    const folded = (given: Event[]) => foldedStateHash(organizationId, mission.groupId, given);
    expect(folded(events)).toBe(folded(stored));
    const chain = events
      .map((event) => renditionOf(event)?.signingHash ?? signingHash(event))
      .reduce(chainNext, chainStart(organizationId, mission.groupId));
    expect((await read((reader) => reader.stream(mission.groupId)))?.chainHash).toBe(chain);
  });

  it('MWP-EVT-003: the author who repeats its Command gets the original receipt, and no words', async () => {
    const draft = mission.draft('message.post', { messageId: id(), conversationId, content: SECRET });
    const bytes = tenant.sign(worker, draft, mission.epochsOf(worker));
    const first = await tenant.submitBytes(bytes, worker.principal);
    await redact(draft.payload['messageId'] as string);
    const again = await tenant.submitBytes(bytes, worker.principal);
    if (!first.accepted || !again.accepted) throw new Error('both are accepted');
    expect([again.receipt, again.duplicate]).toEqual([first.receipt, true]);
    expect(first.events.join()).toContain(SECRET);
    expect(again.events).toHaveLength(1);
    expect(again.events.join()).not.toContain('Quirinus');
  });

  it('of many redactions at once one is accepted, and each Event is marked once', async () => {
    const messageId = await say();
    await mission.accept(worker, 'message.correct', correction(messageId));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => mission.outcome(owner, 'message.redact', redaction(messageId))),
    );
    expect(outcomes.toSorted()).toEqual([...Array<string>(7).fill('INVALID_STATE_TRANSITION'), 'accepted'].toSorted());
    expect(await marked()).toHaveLength(2);
  });

  it('a correction that races with the redaction is withheld with the Message, or refused', async () => {
    const messages = await Promise.all(Array.from({ length: 10 }, say));
    const outcomes = await Promise.all(
      messages.flatMap((messageId) => [
        ...Array.from({ length: 3 }, () => mission.outcome(worker, 'message.correct', correction(messageId))),
        mission.outcome(owner, 'message.redact', redaction(messageId)),
      ]),
    );
    const redacted = outcomes.filter((_, at) => at % 4 === 3);
    expect(redacted).toEqual(messages.map(() => 'accepted'));
    const corrected = outcomes.filter((outcome, at) => at % 4 !== 3 && outcome === 'accepted').length;
    expect(await marked()).toHaveLength(messages.length + corrected);
    expect(JSON.stringify(await replay())).not.toContain('Quirinus');
  });

  it('a process that dies between the commit and the rendition leaves it to the next reader', async () => {
    const messageId = await say();
    await mission.accept(worker, 'message.correct', correction(messageId));
    const dead = { ...tenant.store, recordRenditions: () => Promise.reject(new Error('the process is gone')) };
    tenant.submitThrough(tenant.anotherAuthority(dead));
    await redact(messageId);
    expect(tenant.alarms.splice(0)).toEqual([expect.stringContaining('could not be made yet')]);
    expect((await marked()).map(({ rendition }) => rendition)).toEqual([undefined, undefined]);
    expect(JSON.stringify(await replay())).not.toContain('Quirinus');
    expect((await marked()).filter(({ rendition }) => rendition !== undefined)).toHaveLength(2);
  });

  it('while a rendition cannot be made, its reader gets nothing at all', async () => {
    const messageId = await say();
    const dead = { ...tenant.store, recordRenditions: () => Promise.reject(new Error('the process is gone')) };
    tenant.submitThrough(tenant.anotherAuthority(dead));
    await redact(messageId);
    tenant.alarms.splice(0);
    await expect(replay(renditionsOver({ store: dead }))).rejects.toThrow('the process is gone');
    const signers = { signerOf: () => Promise.reject(new Error('no key opens')) };
    await expect(replay(renditionsOver({ signers }))).rejects.toThrow('no key opens');
    const stranger = generateActorKey(tenant.organization.authority).signer;
    const unknown = { signerOf: () => Promise.resolve(stranger) };
    await expect(replay(renditionsOver({ signers: unknown }))).rejects.toThrow('is not believed');
    const { organization } = tenant;
    const [row] = (await originals()).filter(({ body }) => body.includes(SECRET));
    const plain = read((reader) => deliverable(reader, [row!], { organization, principal: worker.principal }));
    await expect(plain).rejects.toBeInstanceOf(RenditionsMissing);
    expect((await replay()).length).toBeGreaterThan(0);
  });

  it('of readers who make the same rendition at once, all get the first one', async () => {
    const messageId = await say();
    const dead = { ...tenant.store, recordRenditions: () => Promise.reject(new Error('the process is gone')) };
    tenant.submitThrough(tenant.anotherAuthority(dead));
    await redact(messageId);
    tenant.alarms.splice(0);
    const store = name === 'postgres' ? await opened.another() : tenant.store;
    const rivals = Array.from({ length: 6 }, (_, at) => renditionsOver(at % 2 ? { store } : {}));
    const got = await Promise.all(rivals.map((rival) => replay(rival)));
    expect(got).toEqual(got.map(() => got[0]));
    const counts = await read((reader) => reader.rowCounts());
    expect(counts).toMatchObject({ withheld: 1, renditions: 1 });
  });

  it('MWP-SDV-014a: what is rendered after the key was replaced is signed with the new one', async () => {
    const messageId = await say();
    const dead = { ...tenant.store, recordRenditions: () => Promise.reject(new Error('the process is gone')) };
    tenant.submitThrough(tenant.anotherAuthority(dead));
    await redact(messageId);
    tenant.alarms.splice(0);
    const { organization } = tenant;
    const next = generateActorKey(organization.authority);
    const validFrom = await tenant.store.organizations.now();
    const changed = await tenant.store.organizations.changeRegistry(organization.organizationId, {
      bindings: [
        { keyId: next.keyId, principal: next.principal, publicKey: next.publicKey, algorithm: 'Ed25519', validFrom },
      ],
      validity: [
        {
          keyId: tenant.keyOf(organization.authority).keyId,
          recordedAt: validFrom,
          validUntil: new Date(Date.parse(validFrom) + 1).toISOString(),
        },
      ],
    });
    expect(changed).toMatchObject({ outcome: 'done' });
    const events = await replay(renditionsOver({ signers: { signerOf: () => Promise.resolve(next.signer) } }));
    const [rendition] = events.filter((event) => renditionOf(event));
    expect(rendition?.signature.keyId).toBe(next.keyId);
  });

  it('withholds any number of corrections, and makes the renditions of what a page holds', async () => {
    const messageId = await say();
    const times = 105;
    await Promise.all(
      Array.from({ length: times }, () => mission.accept(worker, 'message.correct', correction(messageId))),
    );
    await redact(messageId);
    const marks = await marked();
    expect(marks).toHaveLength(times + 1);
    // Not all at once: nobody waits for the others.
    const made = marks.filter(({ rendition }) => rendition !== undefined).length;
    expect(made).toBe(100);
    expect(JSON.stringify(await replay())).not.toContain('Quirinus');
    expect((await marked()).every(({ rendition }) => rendition !== undefined)).toBe(true);
  });

  it('a Message that holds no text has nothing to withhold, but what its amendments say', async () => {
    const messageId = id();
    const content = [{ type: 'artifact_ref', artifactHash: `sha256:${'a'.repeat(64)}` }];
    await mission.accept(worker, 'message.post', { messageId, conversationId, content });
    await mission.accept(worker, 'message.correct', correction(messageId));
    await redact(messageId);
    expect(await marked()).toHaveLength(1);
    expect(JSON.stringify(await replay())).not.toContain('Quirinus');
  });

  it('leaves the extensions of the Command out, which are words of its sender', async () => {
    const messageId = id();
    const extensions = { 'urn:test:note': { version: '1.0.0', critical: false, data: SECRET } };
    await mission.accept(worker, 'message.post', { messageId, conversationId, content: 'x' }, { extensions });
    expect(JSON.stringify(await replay())).toContain('Quirinus');
    await redact(messageId);
    expect(JSON.stringify(await replay())).not.toContain('Quirinus');
  });
});
