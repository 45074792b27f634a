// Who gets what of an erased Message over HTTP: a rendition and a reason code, whoever asks, in an archived Group as in any; and who
// may not erase at all.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event } from '../../src/protocol/documents/event.ts';
import { renditionOf } from '../../src/protocol/documents/rendition.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import type { MessageItem } from '../../src/worker/answers.ts';
import type { Epochs } from '../../src/worker/commands.ts';
import { signContextPackage } from '../../src/worker/documents.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { archiveGroup, archivistOf } from '../support/archived-groups.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id } from '../support/mission.ts';
import { MemoryBlobs } from '../support/snapshots.ts';
import { path, refusalIn, type Answer } from './api.ts';
import { expectValid, playMission, TEXT, TEXTS, type PlayedMission } from './played-mission.ts';

const REASON = 'It names the customer.';
const WORDS = [TEXT, TEXTS.why, TEXTS.corrected, TEXTS.retracted, REASON];

describe.each(STORES)('$name: an erased Message', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedMission;
  let eraser: ActorKey;
  /** Auditors: a member, and one who is none. */
  let erik: ActorKey;
  let iris: ActorKey;
  /** An invited one. */
  let carl: ActorKey;
  let messageId: string;
  let conversationId: string;
  let spoken: Event[];
  let erased: Answer;

  const get = (key: ActorKey, below: string) => played.api.get(key, played.group + below);
  const events = async (key: ActorKey) => (await get(key, '/events?limit=200')).json['items'] as unknown as Event[];
  const messagesOf = async (key: ActorKey) =>
    (await get(key, `/conversations/${path(conversationId)}/messages`)).json['items'] as unknown as MessageItem[];
  const submit = async (key: ActorKey, payload: Record<string, unknown>, epochs: Epochs = {}) => {
    const bytes = played.tenant.sign(key, played.mission.draft(EVENT_ERASE, payload), epochs);
    return played.api.org('POST', '/commands', { token: await played.api.tokenOf(key), bytes });
  };
  const erasure = () => ({ messageId, reasonCode: 'personal_data' });

  beforeAll(async () => {
    opened = await open();
    played = await playMission(opened.store);
    const { tenant, mission, olga, ada } = played;
    [erik, iris] = [await tenant.human('erik'), await tenant.human('iris')];
    const observer = { principal: erik.principal, roles: ['observer'], visibilityAfterSequence: 0 };
    await mission.accept(olga, 'membership.change', observer);
    eraser = await tenant.service('eraser', [EVENT_ERASE]);
    await tenant.changePolicy(() => ({ auditors: [iris.principal, erik.principal] }));
    const posted = (await events(ada)).find(({ kind }) => kind === 'message.posted') as Required<Event>;
    ({ conversationId } = posted);
    ({ messageId } = posted.payload['message'] as { messageId: string });
    await mission.accept(olga, 'message.redact', { amendmentId: id(), messageId, reason: REASON });
    carl = await tenant.agent('carl');
    const contextPackage = signContextPackage(ada, {
      missionId: mission.missionId,
      groupId: mission.groupId,
      sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: [(await events(ada))[0]!.eventId] },
      summary: 'What came before',
      generatedAt: tenant.now(),
    });
    const invited = { provisional: true, provisionalExpiresAt: mission.later(600_000), contextPackage };
    await mission.accept(ada, 'membership.change', { principal: carl.principal, roles: ['worker'], ...invited });
    spoken = (await events(erik)).filter(({ payload }) => JSON.stringify(payload).includes(messageId));
  });
  afterAll(() => opened.close());

  it('MWP-ADM-014b: is refused to members, auditors and services without the right, and under a legal hold', async () => {
    const { tenant, mission, olga, ada } = played;
    const other = await tenant.service('other', ['mission.cancel']);
    expect(refusalIn(await submit(other, erasure()))).toBe('403 AUTH_FORBIDDEN');
    for (const key of [olga, ada, erik, iris]) {
      const epochs = { membershipEpoch: 1, ...mission.epochsOf(key) };
      expect(refusalIn(await submit(key, erasure(), epochs))).toBe('403 AUTH_FORBIDDEN');
    }
    for (const legalHolds of [['*'], [mission.groupId]]) {
      await tenant.changePolicy(() => ({ legalHolds }));
      const answer = await submit(eraser, erasure());
      expect([refusalIn(answer), answer.text]).toEqual(['403 AUTH_FORBIDDEN', expect.stringContaining('legal hold')]);
    }
    await tenant.changePolicy(() => ({ legalHolds: ['urn:test:group:other'] }));
    expect(refusalIn(await submit(eraser, { messageId, reasonCode: REASON }))).toBe('422 INVALID_COMMAND');
    expect((await events(erik)).filter(({ eventId }) => spoken.some((one) => one.eventId === eventId))).toEqual(spoken);
  });

  it('MWP-MSN-009b, MWP-MSN-009c: is taken in an archived Group, whose last Event is then that', async () => {
    const { tenant, mission, olga } = played;
    await mission.accept(olga, 'mission.cancel', { reason: 'No longer needed' });
    await archiveGroup(tenant, mission, await archivistOf(tenant), new MemoryBlobs());
    erased = await submit(eraser, erasure());
    expect(erased.status).toBe(200);
    const [event] = erased.json['events'];
    expect(event).toMatchObject({ kind: 'ext.mwp.retention.event_erased', payload: erasure() });
    expect((await events(olga)).at(-1)).toEqual(event);
    expect(refusalIn(await submit(eraser, erasure()))).toBe('409 INVALID_STATE_TRANSITION');
  });

  it('MWP-MSN-009c: members and auditors get the same renditions, and nobody a word, wherever it asks', async () => {
    const { ada, olga, bob } = played;
    expect(spoken.map(({ kind }) => kind)).toEqual([
      'message.posted',
      'message.corrected',
      'message.retracted',
      'message.redacted',
    ]);
    const first = await events(olga);
    for (const key of [olga, ada, bob, erik]) {
      const page = await get(key, '/events?limit=200');
      expect(WORDS.filter((words) => page.text.includes(words))).toEqual([]);
      for (const { eventId, sequence, occurredAt } of spoken) {
        const got = first.find((event) => event.eventId === eventId)!;
        expect(got.sequence).toBe(sequence);
        expect(renditionOf(got)).toMatchObject({ cause: 'erased', reasonCode: 'personal_data', occurredAt });
        expect(JSON.parse((await get(key, `/events/${path(eventId)}`)).text)).toEqual(got);
      }
    }
    for (const { eventId } of spoken) {
      const alone = await get(iris, `/events/${path(eventId)}`);
      expect(renditionOf(JSON.parse(alone.text) as Event)).toMatchObject({ cause: 'erased' });
    }
  });

  it('MWP-MSN-011: who was only invited gets its invitation, and nothing of it, rendered or not', async () => {
    expect((await events(carl)).map(({ kind }) => kind)).toEqual(['membership.changed']);
    const [posted] = spoken;
    expect(refusalIn(await get(carl, `/events/${path(posted!.eventId)}`))).toBe('404 INVALID_COMMAND');
    const { eventId } = (await events(played.olga)).at(-1)!;
    expect(refusalIn(await get(carl, `/events/${path(eventId)}`))).toBe('404 INVALID_COMMAND');
  });

  it('MWP-MSN-023: the list tells everybody that it is erased, by whom, when and under which code', async () => {
    for (const key of [played.ada, played.olga, played.bob, erik]) {
      const items = await messagesOf(key);
      expectValid(
        'message',
        items.map(({ message }) => message),
      );
      const about = items.filter(({ message }) => [message.messageId, message.targetMessageId].includes(messageId));
      expect(about.map(({ message }) => message.kind)).toHaveLength(4);
      for (const { message, details } of about) {
        expect(details).toEqual({
          erased: true,
          reasonCode: 'personal_data',
          erasedBy: eraser.principal,
          erasedAt: expect.any(String) as string,
        });
        expect(WORDS.filter((words) => JSON.stringify(message).includes(words))).toEqual([]);
      }
    }
  });

  it('the policy log and its receipt name it with ids and the code, and no word', async () => {
    const log = await get(played.olga, '/policy-log');
    expect(log.text).toContain('a Message is erased');
    expect(WORDS.filter((words) => log.text.includes(words) || erased.text.includes(words))).toEqual([]);
  });
});
