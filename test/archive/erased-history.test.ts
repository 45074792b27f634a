// A history out of which a Message was taken: nothing of the proof is lost with it, in the store or in a bundle that holds no word of
// it, and whatever is changed in what stands there instead is found.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyOrganization, type StreamReport } from '../../src/archive/verify-organization.ts';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import { Renditions } from '../../src/delivery/renditions.ts';
import type { GroupAggregate } from '../../src/domain/aggregates.ts';
import { one } from '../../src/domain/reads.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { exportedText, faultsIn, inChunks, signedAnew as statedAnew } from '../support/bundles.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Vandal, type Row } from './vandal.ts';

const SECRET = 'the customer is called Quirinus';
const SPOKEN = 4;

describe.each(STORES)('an erased history on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let mission: Mission;
  let vandal: Vandal;
  /** Before the bytes were taken out. */
  let ordered: { stateHash: string | undefined; notes: string[]; faults: string[]; bundle: string };

  const reports = async () => {
    const streams: StreamReport[] = [];
    const { organization } = tenant;
    const whole = await opened.store.read(organization.organizationId, (reader) =>
      verifyOrganization(organization, reader, { told: (report) => streams.push(report) }),
    );
    const group = streams.find(({ streamId }) => streamId === mission.groupId) as StreamReport;
    return { group, faults: [...streams.flatMap(({ sentences }) => sentences), ...whole.sentences] };
  };
  const exported = () => exportedText(tenant, mission.groupId, opened.store);
  const rowsOf = async (table: string, wanted: (row: Row) => boolean) => (await vandal.rows(table)).filter(wanted);

  beforeAll(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    const [owner, worker] = [await tenant.human('olga'), await tenant.agent('worker')];
    const eraser = await tenant.service('eraser', [EVENT_ERASE]);
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    await mission.join(worker);
    const { aggregates } = await opened.store.read(tenant.organization.organizationId, (reader) =>
      reader.load([one('group', mission.groupId)]),
    );
    const { mainConversationId: conversationId } = aggregates[0]?.document as GroupAggregate;
    const messageId = id();
    const because = { messageId, reason: SECRET };
    await mission.accept(worker, 'message.post', { messageId, conversationId, content: SECRET });
    await mission.accept(worker, 'message.correct', { amendmentId: id(), ...because, replacementContent: SECRET });
    await mission.accept(worker, 'message.retract', { amendmentId: id(), ...because });
    await mission.accept(owner, 'message.redact', { amendmentId: id(), ...because });
    await mission.accept(worker, 'message.post', { messageId: id(), conversationId, content: 'and now for the rest' });
    await tenant.accept(eraser, mission.draft(EVENT_ERASE, { messageId, reasonCode: 'personal_data' }));
    const before = await reports();
    const { stateHash, notes } = before.group;
    ordered = { stateHash, notes, faults: before.faults, bundle: await exported() };
    vandal = await Vandal.over(opened);
    await takeOut(vandal);
  });
  afterAll(async () => {
    await vandal.close();
    await opened.close();
  });

  it('MWP-MSN-009c: an erasure that is ordered and not carried out yet is a note, and no fault', () => {
    expect(ordered.faults).toEqual([]);
    expect(ordered.notes).toHaveLength(SPOKEN);
    expect(ordered.notes[0]).toMatch(/^the erasure at sequence \d+ is ordered, and its bytes are not taken out yet$/);
  });

  it('MWP-MSN-009c, MWP-FND-013c: without the bytes everything is proven as before, to the same state', async () => {
    const { group, faults } = await reports();
    expect([faults, group.notes]).toEqual([[], []]);
    expect(group.stateHash).toBe(ordered.stateHash);
  });

  it('an export holds renditions and no word, the same before the bytes are taken out and after, and proves itself', async () => {
    const text = await exported();
    for (const bundle of [ordered.bundle, text]) {
      expect(bundle).not.toContain('Quirinus');
      const report = await verifyBundle(inChunks(bundle));
      expect([report.sentences, report.notes, report.stateHash]).toEqual([[], [], ordered.stateHash]);
    }
    const untimed = (bundle: string) => bundle.split('\n').slice(1, -2);
    expect(untimed(text)).toEqual(untimed(ordered.bundle));
  });

  it('who was about to make a rendition when the bytes went finds it made', async () => {
    const { organization } = tenant;
    const signers = { signerOf: () => Promise.resolve(tenant.keyOf(organization.authority).signer) };
    const renditions = new Renditions({ store: opened.store, signers });
    const before = await vandal.rows('renditions');
    const marks = await opened.store.read(organization.organizationId, (reader) =>
      reader.withheldEvents(mission.groupId, 1, 1_000),
    );
    expect(marks.length).toBeGreaterThan(SPOKEN);
    await renditions.make(organization, marks);
    expect(await vandal.rows('renditions')).toEqual(before);
    const [missing] = marks.filter(({ cause }) => cause === 'redacted');
    const [row] = before.filter(
      ({ position, cause }) => Number(position) === missing?.position && cause === 'redacted',
    );
    const undo = await vandal.remove('renditions', row as Row);
    await expect(renditions.make(organization, marks)).rejects.toThrow('has no body to render');
    await undo();
  });

  it('a body that is gone without a mark is a fault, whatever it is', async () => {
    for (const [table, wanted, sentence] of [
      ['events', ({ kind }: Row) => kind === 'membership.changed', /^events: .*: its body is gone, and no erasure/],
      ['commands', ({ kind }: Row) => kind === 'membership.change', /^commands: /],
      ['commands', ({ kind }: Row) => kind === EVENT_ERASE, /^commands: /],
    ] as const) {
      const [row] = await rowsOf(table, wanted);
      const undo = await vandal.set(table, row as Row, { body: null });
      expect((await reports()).faults).toContainEqual(expect.stringMatching(sentence));
      await undo?.();
    }
    expect((await reports()).faults).toEqual([]);
  });

  it('a mark, a rendition or an admission record that is missing is found', async () => {
    const isErased = ({ cause }: Row) => cause === 'erased';
    const renditions = await rowsOf('renditions', isErased);
    expect(renditions).toHaveLength(SPOKEN);
    const [hash] = renditions.map(({ signing_hash: of }) => of);
    for (const [table, wanted] of [
      ['renditions', isErased],
      ['admissions', ({ signing_hash: of }: Row) => of === hash],
      ['withheld', isErased],
    ] as const) {
      for (const row of (await rowsOf(table, wanted)).slice(0, 1)) {
        const undo = await vandal.remove(table, row);
        expect((await reports()).faults).not.toEqual([]);
        await undo();
      }
    }
    expect((await reports()).faults).toEqual([]);
  });

  it('every column of what is left of an erased Event and its Command is proven, but when the Command was issued', async () => {
    const [event] = await rowsOf('events', ({ kind }) => kind === 'message.posted');
    const [command] = await rowsOf('commands', ({ signing_hash: hash }) => hash === event?.['command_hash']);
    for (const [table, row] of [
      ['events', event],
      ['commands', command],
    ] as const) {
      for (const { name, isNumber } of await vandal.columns([table])) {
        if (['organization_id', 'body', 'issued_at'].includes(name)) continue;
        const undo = await vandal.set(table, row as Row, { [name]: isNumber ? 999 : 'urn:test:other' });
        if (!undo) continue;
        expect([table, name, (await reports()).faults.length > 0]).toEqual([table, name, true]);
        await undo();
      }
    }
    expect((await reports()).faults).toEqual([]);
  });

  it('a bundle whose authority signs something else in the place of what is erased is found', async () => {
    const lines = ordered.bundle.trimEnd().split('\n');
    const unsigned = lines.slice(0, -1);
    const stated = (changed: string[]) => statedAnew(tenant, changed, lines.at(-1) as string);
    expect(await faultsIn(stated(unsigned))).toEqual([]);
    const at = unsigned.findIndex((line) => line.includes('"line":"rendition"') && line.includes('"cause":"erased"'));
    const line = unsigned[at] as string;
    const changes = [
      unsigned.toSpliced(at, 1),
      unsigned.with(
        at,
        line.replace(/sha256:[0-9a-f]/, (hash) => `sha256:${hash.endsWith('0') ? '1' : '0'}`),
      ),
      unsigned.with(at, line.replaceAll('"cause":"erased"', '"cause":"redacted"')),
      unsigned.filter((other) => !(other.includes('"line":"withheld"') && other.includes('"cause":"erased"'))),
    ];
    for (const changed of changes) expect(await faultsIn(stated(changed))).not.toEqual([]);
  });
});

/** As the job of erasures does it: bodies of the marked Events and of their Commands, and the texts. */
async function takeOut(vandal: Vandal): Promise<void> {
  const events = (await vandal.rows('withheld')).filter(({ cause }) => cause === 'erased');
  const ids = events.map((row) => `'${String(row['event_id'])}'`).join(', ');
  await vandal.run(`UPDATE {commands} SET body = NULL WHERE signing_hash IN
    (SELECT command_hash FROM {events} WHERE event_id IN (${ids}))`);
  await vandal.run(`UPDATE {events} SET body = NULL WHERE event_id IN (${ids})`);
  await vandal.run(`DELETE FROM {texts} WHERE event_id IN (${ids})`);
}
