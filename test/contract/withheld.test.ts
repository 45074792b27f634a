// Marks and renditions as the store keeps them: marks with the transition that orders them, renditions after it, once; and the
// texts of marked Events for nobody who does not ask for them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore, EventRow, Transition } from '../../src/store/port.ts';
import type { RenditionRow, WithheldRow } from '../../src/store/port/withheld.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { markSample, renditionSample } from './portrait.ts';
import {
  admissionRow,
  AGENT,
  hash,
  HUMAN,
  newGroupId,
  newTenant,
  planFor,
  transitionOf,
  uuid,
  type Draft,
} from './samples.ts';

describe.each(STORES)('marks and renditions on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let org: OrganizationId;
  beforeAll(async () => {
    opened = await open();
    org = await newTenant(opened.store);
  });
  afterAll(() => opened.close());

  const write = (groupId: GroupId, more: Partial<Draft> = {}, change: (write: Transition) => void = () => {}) => {
    const plan = planFor([groupId], { alone: true });
    return opened.store.acceptTransition(org, plan, async ({ now, heads }) => {
      const transition = transitionOf({ groupId, plan, now, head: heads.get(groupId), ...more });
      change(transition);
      return { write: transition, result: transition };
    });
  };

  const markOn = ({ groupId, position, eventId }: EventRow, more: Partial<WithheldRow> = {}) =>
    markSample({ groupId, position, eventId, ...more });
  const renditionOn = ({ groupId, position, eventId }: EventRow, more: Partial<RenditionRow> = {}) =>
    renditionSample({ groupId, position, eventId, signingHash: hash(uuid()), ...more });
  const record = (rows: RenditionRow[], store: AuthorityStore = opened.store) =>
    store.recordRenditions(
      org,
      rows.map((rendition) => ({
        rendition,
        admission: admissionRow(
          rendition.signingHash,
          `renditions ${rendition.groupId}`,
          rendition.position,
          rendition.signedAt,
        ),
      })),
    );
  const read = (groupId: string, from = 1, through = 100) =>
    opened.store.read(org, async (reader) => ({
      marks: await reader.withheldEvents(groupId, from, through),
      renditions: await reader.renditionRows(groupId, from, through),
    }));

  /** Three Events, two of them marked by the next transition. */
  async function marked(): Promise<{ groupId: GroupId; events: EventRow[]; marks: WithheldRow[] }> {
    const groupId = newGroupId();
    const { events } = await write(groupId, { events: 3 });
    const marks = [events[0]!, events[2]!].map((event) => markOn(event));
    await write(groupId, { withheld: marks });
    return { groupId, events, marks };
  }

  it('are answered as they were written, by the range of a Group, each mark with its rendition', async () => {
    const [{ groupId, events, marks }, other] = [await marked(), await marked()];
    expect(await read(groupId)).toEqual({ marks, renditions: [] });
    const rendition = renditionOn(events[2]!, { body: '{"rendered":"ü \\u0000"}' });
    await record([rendition]);
    const [first, second] = marks;
    const whole = { ...second, rendition: rendition.body };
    expect(await read(groupId)).toEqual({ marks: [first, whole], renditions: [rendition] });
    expect(await read(groupId, 2, 3)).toEqual({ marks: [whole], renditions: [rendition] });
    expect(await read(groupId, 2, 2)).toEqual({ marks: [], renditions: [] });
    expect((await read(other.groupId)).renditions).toEqual([]);
    const admission = await opened.store.read(org, (reader) => reader.admission(rendition.signingHash));
    expect(admission).toMatchObject({ streamId: `renditions ${groupId}`, revision: 3 });
  });

  it('of renditions that several make at once the first of each Event stands, with its record, and the others leave nothing', async () => {
    const { groupId, events } = await marked();
    const another = name === 'postgres' ? await opened.another() : opened.store;
    const rivals = Array.from({ length: 6 }, (_, at) => {
      const both = [renditionOn(events[0]!, { body: `${at}` }), renditionOn(events[2]!, { body: `${at}` })];
      return at % 3 === 0 ? both.toReversed() : both;
    });
    await Promise.all(rivals.map((rows, at) => record(rows, at % 2 ? another : opened.store)));
    const { renditions } = await read(groupId);
    expect(renditions.map(({ position }) => position)).toEqual([1, 3]);
    for (const rendition of renditions) expect(rivals.flat()).toContainEqual(rendition);
    const hashes = rivals.flat().map(({ signingHash }) => signingHash);
    const admitted = await opened.store.read(org, (reader) => reader.admissions(hashes));
    expect(admitted.map(({ signingHash }) => signingHash).toSorted()).toEqual(
      renditions.map(({ signingHash }) => signingHash).toSorted(),
    );
    await record([renditionOn(events[0]!)]);
    expect((await read(groupId)).renditions).toEqual(renditions);
  });

  it('a rendition of what is not marked is refused, and with it all that came along', async () => {
    const { groupId, events } = await marked();
    const rows = [renditionOn(events[0]!), renditionOn(events[1]!)];
    await expect(record(rows)).rejects.toMatchObject({ name: 'StoreFault' });
    expect((await read(groupId)).renditions).toEqual([]);
    const hashes = rows.map(({ signingHash }) => signingHash);
    expect(await opened.store.read(org, (reader) => reader.admissions(hashes))).toEqual([]);
  });

  it('MWP-ADM-004a: an admission record that cannot be written keeps its rendition out', async () => {
    const { groupId, events } = await marked();
    const first = renditionOn(events[0]!);
    await record([first]);
    const second = renditionOn(events[2]!, { signingHash: first.signingHash });
    await expect(record([second])).rejects.toMatchObject({ kind: 'conflict' });
    expect((await read(groupId)).renditions).toEqual([first]);
  });

  it('a mark twice, or on an Event that is not there, refuses its transition whole', async () => {
    const { groupId, events, marks } = await marked();
    const head = () => opened.store.read(org, (reader) => reader.stream(groupId));
    const before = await head();
    for (const wrong of [
      marks[0]!,
      markOn({ ...events[0]!, position: 99 }),
      markOn(events[1]!, { cause: 'lost' as never }),
    ])
      await expect(write(groupId, { withheld: [wrong] })).rejects.toMatchObject({ name: 'StoreFault' });
    expect(await head()).toEqual(before);
    expect((await read(groupId)).marks).toEqual(marks);
  });

  it('MWP-MSN-023: the texts of a marked Event are there for who asks for all of them, and for nobody else', async () => {
    const groupId = newGroupId();
    const commitment = hash('a text');
    const { events } = await write(groupId, { texts: [{ commitment, value: '"a text"' }] });
    const texts = (which?: 'shown' | 'all') =>
      opened.store.read(org, async (reader) => [...(await reader.texts(groupId, [commitment], which)).values()]);
    expect(await texts()).toEqual(['"a text"']);
    await write(groupId, { withheld: [markOn(events[0]!)] });
    expect([await texts(), await texts('shown'), await texts('all')]).toEqual([[], [], ['"a text"']]);
  });

  it('finds the Events of a Message and of its amendments by its author, of its Group alone, in their order', async () => {
    const [groupId, other] = [newGroupId(), newGroupId()];
    const messageId = uuid();
    const speak = (group: GroupId, author = AGENT, target: string | undefined = messageId) => {
      const commitment = hash(uuid());
      const document = { author, conversationId: 'urn:c', targetMessageId: target, reason: { commitment } };
      const aggregates = [{ kind: 'message' as const, id: uuid(), document }];
      return write(group, { aggregates, texts: [{ commitment, value: '"x"' }] });
    };
    const own = hash(uuid());
    const { events } = await write(groupId, { texts: [{ commitment: own, value: '"said"' }] });
    const [first, , , last] = [
      await speak(groupId),
      await speak(groupId, HUMAN),
      await speak(groupId, AGENT, uuid()),
      await speak(groupId),
    ];
    await speak(other);
    const find = (commitments: string[]) =>
      opened.store.acceptTransition(org, planFor([groupId], { alone: true }), async (_, acceptance) => ({
        result: await acceptance.eventsOfMessage({ groupId, messageId, author: AGENT, commitments }),
      }));
    const found = [events, first.events, last.events].map(([event]) => ({
      eventId: event!.eventId,
      position: event!.position,
    }));
    expect(await find([own])).toEqual(found);
    expect(await find([])).toEqual(found.slice(1));
  });
});
