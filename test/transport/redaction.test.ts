// Who gets what of a redacted Message over HTTP: everybody a rendition, in replay, by id, with receipts and repeated Commands,
// and no words in the list; auditors the original.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renditionOf } from '../../src/protocol/documents/rendition.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import type { MessageItem } from '../../src/worker/answers.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id } from '../support/mission.ts';
import { path, refusalIn, type Answer } from './api.ts';
import { expectValid, playMission, TEXT, TEXTS, type PlayedMission } from './played-mission.ts';

const REASON = 'It names the customer.';
const WORDS = [TEXT, TEXTS.why, TEXTS.corrected, TEXTS.retracted];

describe.each(STORES)('$name: a redacted Message', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedMission;
  /** A member from after all that; an auditor who is a member and one who is none. */
  let carl: ActorKey;
  let erik: ActorKey;
  let iris: ActorKey;
  let messageId: string;
  let conversationId: string;
  let posted: { bytes: Uint8Array; actionId: string; answer: Answer };
  let spoken: Event[];
  let untouched: { state: string; sequences: unknown };

  const get = (key: ActorKey, below: string) => played.api.get(key, played.group + below);
  const events = async (key: ActorKey) => (await get(key, '/events?limit=200')).json['items'] as unknown as Event[];
  const submit = async (key: ActorKey, bytes: Uint8Array) =>
    played.api.org('POST', '/commands', { token: await played.api.tokenOf(key), bytes });
  const holdsWords = (answer: { text: string }) => WORDS.filter((words) => answer.text.includes(words));
  const messagesOf = async (key: ActorKey) => {
    const answer = await get(key, `/conversations/${path(conversationId)}/messages`);
    return { ...answer, items: answer.json['items'] as unknown as MessageItem[] };
  };

  beforeAll(async () => {
    opened = await open();
    played = await playMission(opened.store);
    const { tenant, mission, olga, ada } = played;
    [erik, iris] = [await tenant.human('erik'), await tenant.human('iris')];
    await mission.accept(olga, 'membership.change', {
      principal: erik.principal,
      roles: ['observer'],
      visibilityAfterSequence: 0,
    });
    const { organizations } = tenant.store;
    const { organizationId } = tenant.organization;
    const policy = await organizations.policy(organizationId);
    await organizations.changeRegistry(organizationId, {
      policy: { ...policy, version: policy.version + 1, auditors: [iris.principal, erik.principal] },
    });
    ({ conversationId } = (await events(ada)).find(({ kind }) => kind === 'message.posted') as Required<Event>);
    messageId = id();
    const draft = mission.draft('message.post', { messageId, conversationId, content: TEXT });
    const bytes = tenant.sign(ada, draft, mission.epochsOf(ada));
    posted = { bytes, actionId: '', answer: await submit(ada, bytes) };
    posted.actionId = (posted.answer.json['receipt'] as unknown as { actionId: string }).actionId;
    const corrected = { amendmentId: id(), messageId, reason: TEXTS.why, replacementContent: TEXTS.corrected };
    await mission.accept(ada, 'message.correct', corrected);
    await mission.accept(ada, 'message.retract', { amendmentId: id(), messageId, reason: TEXTS.retracted });
    carl = await tenant.agent('carl');
    await mission.join(carl);
    spoken = (await events(ada)).filter(({ payload }) => JSON.stringify(payload).includes(messageId));
    await mission.accept(olga, 'message.redact', { amendmentId: id(), messageId, reason: REASON });
    untouched = {
      state: (await get(olga, '/state')).text,
      sequences: (await events(erik)).map(({ sequence }) => sequence),
    };
  });
  afterAll(() => opened.close());

  it('MWP-MSN-023, MWP-MSN-009c: author, owner and other members get renditions, id for id, and a page without a hole', async () => {
    const { ada, olga, bob } = played;
    expect(spoken).toHaveLength(3);
    const first = await events(olga);
    expect(first.map(({ sequence }) => sequence)).toEqual(untouched.sequences);
    for (const key of [ada, olga, bob]) {
      const got = (await events(key)).filter(({ eventId }) => spoken.some((original) => original.eventId === eventId));
      expect(got.map(({ eventId, sequence, kind }) => [eventId, sequence, kind])).toEqual(
        spoken.map(({ eventId, sequence, kind }) => [eventId, sequence, kind]),
      );
      for (const [at, event] of got.entries()) {
        expect(renditionOf(event)).toMatchObject({ cause: 'redacted', occurredAt: spoken[at]!.occurredAt });
        const single = await get(key, `/events/${path(event.eventId)}`);
        expect(JSON.parse(single.text)).toEqual(event);
        expect(holdsWords(single)).toEqual([]);
      }
    }
  });

  it('a member who joined later gets what it got: nothing from before its start, rendered or not', async () => {
    const kinds = (await events(carl)).map(({ kind }) => kind);
    expect(kinds).toContain('message.redacted');
    expect(kinds).not.toContain('message.posted');
    for (const { eventId } of spoken)
      expect(refusalIn(await get(carl, `/events/${path(eventId)}`))).toBe('404 INVALID_COMMAND');
  });

  it('MWP-EVT-003: the author repeats its Command, and asks for its receipt: the same receipt, and no words', async () => {
    const again = await submit(played.ada, posted.bytes);
    expect(again.json['duplicate']).toBe(true);
    expect(again.json['receipt']).toEqual(posted.answer.json['receipt']);
    const receipt = await played.api.get(played.ada, `/receipts/${path(posted.actionId)}`);
    expect([holdsWords(posted.answer).length, holdsWords(again), holdsWords(receipt)]).toEqual([1, [], []]);
    for (const { json } of [again, receipt]) {
      const [event] = json['events'];
      expect(event?.eventId).toBe(spoken[0]!.eventId);
      expect(renditionOf(event!)?.cause).toBe('redacted');
    }
  });

  it('MWP-MSN-023: the list tells everybody that it is redacted, by whom, when and why, with valid Messages and no words', async () => {
    for (const key of [played.ada, played.olga, played.bob]) {
      const { items } = await messagesOf(key);
      expectValid(
        'message',
        items.map(({ message }) => message),
      );
      const about = items.filter(({ message }) => [message.messageId, message.targetMessageId].includes(messageId));
      const redacted = about.filter(({ message }) => message.kind !== 'redaction');
      expect(redacted.map(({ message }) => message.kind).toSorted()).toEqual(['correction', 'message', 'retraction']);
      for (const { message, details } of redacted) {
        expect(details).toMatchObject({ redacted: true, redactedBy: played.olga.principal, reason: REASON });
        expect(WORDS.filter((words) => JSON.stringify(message).includes(words))).toEqual([]);
      }
      const redaction = about.find(({ message }) => message.kind === 'redaction');
      expect(redaction).toMatchObject({ message: { reason: REASON, author: played.olga.principal } });
      expect(redaction).not.toHaveProperty('details');
      // The other Message of the same words stands as it was.
      expect(items.some(({ message }) => JSON.stringify(message).includes(TEXT))).toBe(true);
    }
  });

  it('MWP-MSN-023: an auditor who is a member gets the originals, in the same places, and sees in the list what was said', async () => {
    const got = (await events(erik)).filter(({ eventId }) => spoken.some((original) => original.eventId === eventId));
    expect(got).toEqual(spoken);
    for (const original of spoken)
      expect(JSON.parse((await get(erik, `/events/${path(original.eventId)}`)).text)).toEqual(original);
    const { items } = await messagesOf(erik);
    const mine = items.find(({ message }) => message.messageId === messageId);
    expect(mine).toMatchObject({ message: { content: [{ type: 'text', text: TEXT }] }, details: { reason: REASON } });
  });

  it('an auditor who is no member gets by its id what was withheld, and of the Group nothing else', async () => {
    for (const original of spoken)
      expect(JSON.parse((await get(iris, `/events/${path(original.eventId)}`)).text)).toEqual(original);
    const others = (await events(played.olga)).filter(({ eventId }) => !spoken.some((one) => one.eventId === eventId));
    for (const { eventId } of others)
      expect(refusalIn(await get(iris, `/events/${path(eventId)}`))).toBe('404 GROUP_NOT_FOUND');
    expect(refusalIn(await get(iris, '/events'))).toBe('404 GROUP_NOT_FOUND');
    const { tenant } = played;
    const otto = await tenant.human('otto');
    expect(refusalIn(await get(otto, `/events/${path(spoken[0]!.eventId)}`))).toBe('404 GROUP_NOT_FOUND');
  });

  it('the policy log names it with ids, and neither its words nor the reason', async () => {
    const log = await get(played.olga, '/policy-log');
    expect(log.text).toContain(messageId);
    expect([...holdsWords(log), ...(log.text.includes(REASON) ? [REASON] : [])]).toEqual([]);
    expect((await get(played.olga, '/state')).text).toBe(untouched.state);
  });
});
