// Erasures as the store keeps them: one row with the marks, and one transaction that takes out what was found, or nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore, EventRow, Transition } from '../../src/store/port.ts';
import type { TakenBodies } from '../../src/store/port/erasures.ts';
import type { RenditionRow, WithheldRow } from '../../src/store/port/withheld.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { lookBehind, type Behind } from './behind.ts';
import { markSample, renditionSample } from './portrait.ts';
import { admissionRow, hash, newGroupId, newTenant, planFor, transitionOf, uuid, type Draft } from './samples.ts';

describe.each(STORES)('erasures on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let org: OrganizationId;
  let behind: Behind;
  beforeAll(async () => {
    opened = await open();
    org = await newTenant(opened.store);
    behind = lookBehind(opened);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  const write = (groupId: GroupId, more: Partial<Draft> = {}): Promise<Transition> => {
    const plan = planFor([groupId], { alone: true });
    return opened.store.acceptTransition(org, plan, async ({ now, heads }) => {
      const transition = transitionOf({ groupId, plan, now, head: heads.get(groupId), ...more });
      return { write: transition, result: transition };
    });
  };
  const markOn = ({ groupId, position, eventId }: EventRow, more: Partial<WithheldRow> = {}) =>
    markSample({ groupId, position, eventId, cause: 'erased', reasonCode: 'legal_request', ...more });
  const render = (marks: WithheldRow[], store: AuthorityStore = opened.store) =>
    store.recordRenditions(
      org,
      marks.map(({ groupId, position, eventId, cause }) => {
        const rendition: RenditionRow = renditionSample({
          groupId,
          position,
          eventId,
          cause,
          signingHash: hash(uuid()),
        });
        const { signingHash, signedAt } = rendition;
        return { rendition, admission: admissionRow(signingHash, `renditions ${groupId}`, position, signedAt) };
      }),
    );
  const inState = async (state: 'due' | 'taken' | 'removed' | 'scrubbed') =>
    (await opened.store.erasures.inState(org, state, '', 1_000)).map(({ orderedBy }) => orderedBy);

  /** Three Events of one Command with a text each, the first and the last of them marked by the next transition. */
  async function ordered() {
    const groupId = newGroupId();
    const commitments = [hash(uuid())];
    const { events, command } = await write(groupId, {
      events: 3,
      texts: commitments.map((commitment) => ({ commitment, value: '"said"' })),
    });
    const orderedBy = uuid();
    const marks = [events[0]!, events[2]!].map((event) => markOn(event, { orderedBy }));
    await write(groupId, { withheld: marks });
    const taken: TakenBodies = {
      eventIds: marks.map(({ eventId }) => eventId),
      events: marks.map(({ position }) => position),
      commands: [command.signingHash],
      documents: [],
      segments: [],
    };
    return { groupId, events, command, commitments, orderedBy, marks, taken };
  }

  /** Readers get none of what is marked. */
  const textRows = async (commitments: string[]) => {
    const wanted = commitments.map((commitment) => `'${commitment}'`).join(', ');
    return (await behind.query(`SELECT commitment FROM {texts} WHERE commitment IN (${wanted})`)).length;
  };
  const left = (groupId: string, commandHash: string, commitments: string[]) =>
    opened.store.read(org, async (reader) => ({
      events: (await reader.events(groupId, 0, 3)).map(({ body }) => body !== ''),
      command: (await reader.command(commandHash))?.body !== '',
      texts: await textRows(commitments),
    }));

  it('a row stands with the marks of each Event that orders one, with the range of its marks, and none with a redaction', async () => {
    const groupId = newGroupId();
    const { events } = await write(groupId, { events: 4 });
    const [a, b] = [uuid(), uuid()];
    const marks = [markOn(events[3]!, { orderedBy: a }), markOn(events[1]!, { orderedBy: a })];
    const withheld = [...marks, markOn(events[2]!, { orderedBy: b }), markOn(events[0]!, { cause: 'redacted' })];
    await write(groupId, { withheld });
    const rows = (await opened.store.erasures.inState(org, 'due', '', 1_000)).filter((row) => row.groupId === groupId);
    const { recordedAt } = marks[0]!;
    const due = { groupId, state: 'due', blobs: [], recordedAt };
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ ...due, orderedBy: a, firstSequence: 2, lastSequence: 4 });
    expect(rows).toContainEqual({ ...due, orderedBy: b, firstSequence: 3, lastSequence: 3 });
    const [first] = [a, b].toSorted();
    expect(await opened.store.erasures.inState(org, 'due', '', 1)).toHaveLength(1);
    const after = await opened.store.erasures.inState(org, 'due', first!, 1_000);
    expect(after.map(({ orderedBy }) => orderedBy)).not.toContain(first);
  });

  it('nothing is taken before every mark on these Events has its rendition, nor for fewer Events than are marked', async () => {
    const { groupId, command, commitments, orderedBy, marks, taken } = await ordered();
    const { erasures } = opened.store;
    const whole = { events: [true, true, true], command: true, texts: 1 };
    const refused = async (what: TakenBodies = taken) => {
      expect(await erasures.take(org, orderedBy, what)).toBe(false);
      expect(await left(groupId, command.signingHash, commitments)).toEqual(whole);
    };
    await refused();
    await render([marks[0]!]);
    await refused();
    await render([marks[1]!]);
    await refused({ ...taken, eventIds: [marks[0]!.eventId], events: [marks[0]!.position] });
    await refused({ ...taken, eventIds: [marks[0]!.eventId, uuid()] });
    expect(await inState('due')).toContain(orderedBy);
    expect(await erasures.take(org, orderedBy, taken)).toBe(true);
    expect(await left(groupId, command.signingHash, commitments)).toEqual({
      events: [false, true, false],
      command: false,
      texts: 0,
    });
    expect(await erasures.take(org, orderedBy, taken)).toBe(false);
  });

  it('a body that was taken out since it was found, or a segment that is another by now, keeps all of it as it was', async () => {
    const { groupId, command, commitments, orderedBy, marks, taken } = await ordered();
    await render(marks);
    const wrong: Partial<TakenBodies>[] = [
      { commands: [command.signingHash, hash('another')] },
      { documents: [hash('none')] },
      { events: [...taken.events, 99] },
      { segments: [{ position: 1, before: hash('a'), hash: hash('b'), size: 1 }] },
    ];
    for (const more of wrong) {
      expect(await opened.store.erasures.take(org, orderedBy, { ...taken, ...more })).toBe(false);
      const whole = { events: [true, true, true], command: true, texts: 1 };
      expect(await left(groupId, command.signingHash, commitments)).toEqual(whole);
    }
    expect(await inState('due')).toContain(orderedBy);
  });

  it('of several who take the same at once one does', async () => {
    const { orderedBy, marks, taken } = await ordered();
    await render(marks);
    const another = name === 'postgres' ? await opened.another() : opened.store;
    const stores = [opened.store, another, opened.store, another];
    const answers = await Promise.all(stores.map((store) => store.erasures.take(org, orderedBy, taken)));
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await inState('taken')).toContain(orderedBy);
  });

  it('moves on once its blobs are removed, and says so once however often it is told; another tenant moves nothing', async () => {
    const { orderedBy, marks, taken } = await ordered();
    const { erasures } = opened.store;
    const other = await newTenant(opened.store);
    await erasures.removed(org, orderedBy);
    expect(await inState('due')).toContain(orderedBy);
    await render(marks);
    expect(await erasures.take(other, orderedBy, taken)).toBe(false);
    expect(await erasures.take(org, orderedBy, taken)).toBe(true);
    await erasures.removed(other, orderedBy);
    expect(await inState('taken')).toContain(orderedBy);
    await erasures.removed(org, orderedBy);
    await erasures.removed(org, orderedBy);
    expect(await inState('removed')).toContain(orderedBy);
    if (name === 'postgres') return expect(erasures.scrubbing).toBeUndefined();
    await erasures.scrubbing?.scrub();
    await erasures.scrubbing?.scrubbed(org, orderedBy);
    await erasures.scrubbing?.scrubbed(org, orderedBy);
    return expect(await inState('scrubbed')).toContain(orderedBy);
  });
});
