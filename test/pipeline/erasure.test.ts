// What becomes of an erased Message before its bytes are taken out: everything that speaks of it is marked, nobody gets a word of
// it any more, auditors included, and the proof of the whole Organization holds.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deliverable } from '../../src/delivery/rendered.ts';
import { Renditions } from '../../src/delivery/renditions.ts';
import type { MessageAggregate } from '../../src/domain/aggregates.ts';
import { one } from '../../src/domain/reads.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import { renditionOf } from '../../src/protocol/documents/rendition.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import type { Reader } from '../../src/store/port.ts';
import { signingHash } from '../../src/trust/signing.ts';
import { chainNext, chainStart } from '../../src/wire/chain.ts';
import { commitmentsIn } from '../../src/wire/commitments.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { Vandal } from '../archive/vandal.ts';
import { id, Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Tenant } from '../support/tenant.ts';
import { verified } from '../support/verified.ts';

const SECRET = 'the customer is called Quirinus';

describe.each(STORES)('erasure on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let mission: Mission;
  let owner: ActorKey;
  let worker: ActorKey;
  let auditor: ActorKey;
  let eraser: ActorKey;
  let conversationId: string;

  beforeAll(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    [owner, auditor] = [await tenant.human('olga'), await tenant.human('iris')];
    worker = await tenant.agent('worker');
    eraser = await tenant.service('eraser', [EVENT_ERASE]);
    await tenant.changePolicy(() => ({ auditors: [auditor.principal] }));
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    await mission.join(worker);
    const { aggregates } = await read((reader) => reader.load([one('group', mission.groupId)]));
    ({ mainConversationId: conversationId } = aggregates[0]?.document as { mainConversationId: string });
  });
  afterAll(() => opened.close());
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
  const correct = (messageId: string) =>
    mission.outcome(worker, 'message.correct', {
      amendmentId: id(),
      messageId,
      reason: 'a typo',
      replacementContent: `${SECRET}!`,
    });
  const redact = (messageId: string) =>
    mission.outcome(owner, 'message.redact', { amendmentId: id(), messageId, reason: `because ${SECRET}` });
  const erasure = (messageId: string) => mission.draft(EVENT_ERASE, { messageId, reasonCode: 'court_order' });
  const erase = (messageId: string) => tenant.accept(eraser, erasure(messageId));
  const speaking = async (messageId: string) =>
    (await read((reader) => reader.events(mission.groupId, 0, 1_000))).filter(
      ({ kind, body }) => kind.startsWith('message.') && body.includes(messageId),
    );
  const marksOf = async (messageId: string) => {
    const events = new Set((await speaking(messageId)).map(({ eventId }) => eventId));
    return (await read((reader) => reader.withheldEvents(mission.groupId, 1, 1_000_000))).filter(({ eventId }) =>
      events.has(eventId),
    );
  };
  /** What somebody gets of the Events of one Message. */
  const got = async (messageId: string, { principal }: ActorKey, renditions = renditionsOver()): Promise<Event[]> => {
    const rows = await speaking(messageId);
    const { organization } = tenant;
    const bodies = await renditions.read(organization.organizationId, (reader) =>
      deliverable(reader, rows, { organization, principal }),
    );
    return bodies.map((body) => JSON.parse(body) as Event);
  };
  const renditionsOver = (): Renditions =>
    new Renditions({
      store: tenant.store,
      signers: { signerOf: () => Promise.resolve(tenant.keyOf(tenant.organization.authority).signer) },
    });

  it('MWP-MSN-009c: marks the Message, its amendments and its redaction by somebody else, and nothing beside them', async () => {
    const [messageId, other] = [await say(), await say()];
    expect([await correct(messageId), await correct(other)]).toEqual(['accepted', 'accepted']);
    await mission.accept(worker, 'message.retract', { amendmentId: id(), messageId, reason: SECRET });
    expect(await redact(messageId)).toBe('accepted');
    const { events } = await erase(messageId);
    expect(events.map(({ kind, payload }) => [kind, payload])).toEqual([
      ['ext.mwp.retention.event_erased', { messageId, reasonCode: 'court_order' }],
    ]);
    const marks = await marksOf(messageId);
    const of = (cause: string) => marks.filter((mark) => mark.cause === cause);
    const spoken = (await speaking(messageId)).map(({ eventId }) => eventId);
    expect(spoken).toHaveLength(4);
    expect(of('redacted').map(({ eventId }) => eventId)).toEqual(spoken.slice(0, 3));
    expect(of('erased').map(({ eventId }) => eventId)).toEqual(spoken);
    for (const mark of of('erased')) {
      expect(mark.rendition).toBeDefined();
      expect(mark).toMatchObject({ reasonCode: 'court_order', orderedBy: events[0]?.eventId });
    }
    expect(await marksOf(other)).toEqual([]);
  });

  it('MWP-MSN-009c: an auditor, who got the redacted original, gets renditions of cause erased like everybody', async () => {
    const messageId = await say();
    await redact(messageId);
    expect(JSON.stringify(await got(messageId, auditor))).toContain('Quirinus');
    const asRedacted = await got(messageId, owner);
    await erase(messageId);
    const [first, ...others] = await Promise.all([auditor, owner, worker].map((key) => got(messageId, key)));
    expect(first!.map((event) => renditionOf(event)?.cause)).toEqual(['erased', 'erased']);
    expect(others).toEqual([first, first]);
    expect(JSON.stringify(first)).not.toContain('Quirinus');
    // The same commitments, under another cause.
    expect(first![0]!.payload).toEqual(asRedacted[0]!.payload);
  });

  it('texts that are still stored are given to nobody, whoever asks for all', async () => {
    const messageId = await say();
    const commitments = await read(async (reader) => {
      const { aggregates } = await reader.load([one('message', messageId)]);
      return commitmentsIn((aggregates[0]?.document as MessageAggregate).content);
    });
    const texts = (which: 'all' | 'shown') =>
      read(async (reader) => [...(await reader.texts(mission.groupId, commitments, which)).values()]);
    await redact(messageId);
    expect([await texts('all'), await texts('shown')]).toEqual([[JSON.stringify(SECRET)], []]);
    await erase(messageId);
    expect([await texts('all'), await texts('shown')]).toEqual([[], []]);
  });

  it('MWP-MSN-009c: what everybody gets of the Group folds to the same state and chains to the same head', async () => {
    const messageId = await say();
    await correct(messageId);
    await erase(messageId);
    const rows = await read((reader) => reader.events(mission.groupId, 0, 1_000));
    const { organization } = tenant;
    const bodies = await read((reader) => deliverable(reader, rows, { organization, principal: worker.principal }));
    const events = bodies.map((body) => JSON.parse(body) as Event);
    expect(events.filter((event) => renditionOf(event)?.cause === 'erased').length).toBeGreaterThan(1);
    const folded = (given: Event[]) => foldedStateHash(organization.organizationId, mission.groupId, given);
    expect(folded(events)).toBe(folded(rows.map(({ body }) => JSON.parse(body) as Event)));
    const chain = events
      .map((event) => renditionOf(event)?.signingHash ?? signingHash(event))
      .reduce(chainNext, chainStart(organization.organizationId, mission.groupId));
    expect((await read((reader) => reader.stream(mission.groupId)))?.chainHash).toBe(chain);
  });

  it('MWP-EVT-003: the same Command again answers the same receipt, and the author’s own Command no words', async () => {
    const draft = mission.draft('message.post', { messageId: id(), conversationId, content: SECRET });
    const posted = tenant.sign(worker, draft, mission.epochsOf(worker));
    await tenant.submitBytes(posted, worker.principal);
    const bytes = tenant.sign(eraser, erasure(draft.payload['messageId'] as string));
    const [first, again] = [
      await tenant.submitBytes(bytes, eraser.principal),
      await tenant.submitBytes(bytes, eraser.principal),
    ];
    if (!first.accepted || !again.accepted) throw new Error('both are accepted');
    expect([again.receipt, again.duplicate, again.events]).toEqual([first.receipt, true, first.events]);
    const own = await tenant.submitBytes(posted, worker.principal);
    if (!own.accepted) throw new Error('it was accepted');
    expect([own.duplicate, own.events.length]).toEqual([true, 1]);
    expect(own.events.join()).not.toContain('Quirinus');
  });

  it('of many erasures at once one is accepted; what races with it is marked or refused', async () => {
    const messageId = await say();
    const outcomes = await Promise.all([
      ...Array.from({ length: 4 }, () => tenant.outcome(eraser, erasure(messageId))),
      ...Array.from({ length: 4 }, () => correct(messageId)),
      redact(messageId),
    ]);
    expect(outcomes.slice(0, 4).toSorted()).toEqual([...Array<string>(3).fill('INVALID_STATE_TRANSITION'), 'accepted']);
    const others = outcomes.slice(4).filter((outcome) => outcome === 'accepted').length;
    const marks = await marksOf(messageId);
    expect(marks.filter(({ cause }) => cause === 'erased')).toHaveLength(1 + others);
    expect(JSON.stringify(await got(messageId, auditor))).not.toContain('Quirinus');
  });

  it('a process that dies before the renditions leaves them to the next reader, who may be an auditor', async () => {
    const messageId = await say();
    await redact(messageId);
    const alive = tenant.anotherAuthority(tenant.store);
    const dead = { ...tenant.store, recordRenditions: () => Promise.reject(new Error('the process is gone')) };
    tenant.submitThrough(tenant.anotherAuthority(dead));
    await erase(messageId);
    tenant.submitThrough(alive);
    expect(tenant.alarms.splice(0)).toEqual([expect.stringContaining('could not be made yet')]);
    const events = await got(messageId, auditor);
    expect(events.map((event) => renditionOf(event)?.cause)).toEqual(['erased', 'erased']);
  });

  it('a Message that holds no text has nothing to erase, but is known as erased', async () => {
    const messageId = id();
    const content = [{ type: 'artifact_ref', artifactHash: `sha256:${'a'.repeat(64)}` }];
    await mission.accept(worker, 'message.post', { messageId, conversationId, content });
    await erase(messageId);
    expect(await marksOf(messageId)).toEqual([]);
    expect(await correct(messageId)).toBe('INVALID_STATE_TRANSITION');
  });

  it('another tenant’s service finds no such Group, whatever its own policy lets it do', async () => {
    const messageId = await say();
    const other = await Tenant.create(opened.store);
    const stranger = await other.service('eraser', [EVENT_ERASE]);
    expect(await other.outcome(stranger, erasure(messageId))).toBe('GROUP_NOT_FOUND');
    expect(await marksOf(messageId)).toEqual([]);
  });

  it('MWP-MSN-009c: a mark by an erasure that is missing, too many or under another reason is a fault', async () => {
    const [messageId, other] = [await say(), await say()];
    await redact(messageId);
    await erase(messageId);
    const [, redaction] = await speaking(messageId);
    const [untouched] = await speaking(other);
    const vandal = await Vandal.over(opened);
    const faults = async () => (await verified(tenant.store, tenant.organization)).faults.join('\n');
    try {
      const mark = (await vandal.rows('withheld')).find(({ event_id: eventId }) => eventId === redaction!.eventId)!;
      const where = `withheld: position ${redaction!.position}`;
      const changed = await vandal.set('withheld', mark, { reason_code: 'personal_data' });
      expect(await faults()).toContain(where);
      await changed!();
      const [same] = (await vandal.rows('withheld')).filter(({ event_id: eventId }) => eventId === redaction!.eventId);
      const back = await vandal.remove('withheld', same!);
      expect(await faults()).toContain(`${where} is not marked`);
      await back();
      const { position, eventId } = untouched!;
      const added = await vandal.add('withheld', { ...same, position, event_id: eventId });
      expect(await faults()).toContain(`withheld: position ${position} is marked, and`);
      await added();
    } finally {
      await vandal.close();
    }
  });
});
