// Who kept an original proves with it what was accepted, also where the body is gone; and nothing else passes for it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registryEvidence } from '../../src/archive/historical-evidence.ts';
import { checkOriginal, readOriginal, type Original } from '../../src/archive/original.ts';
import { storedStanding } from '../../src/archive/original-standing.ts';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import { verifyRegistry } from '../../src/archive/verify-registry.ts';
import { Renditions } from '../../src/delivery/renditions.ts';
import type { EventRow, Reader } from '../../src/store/port.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { exportedText, inChunks } from '../support/bundles.ts';
import { runMwp } from '../support/command-line.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';
import { Vandal } from './vandal.ts';

describe.each(STORES)('an original beside what was accepted on $name', ({ open }) => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let vandal: Vandal;
  let said: EventRow;
  let plain: EventRow;
  let sent: string;

  const organization = () => played.tenant.organization;
  const read = <Result>(work: (reader: Reader) => Promise<Result>) =>
    opened.store.read(organization().organizationId, work);

  beforeAll(async () => {
    opened = await open();
    played = await playOrganization(opened.store);
    const events = await read((reader) => reader.events(played.mission.groupId, 0, 1_000));
    said = events.find(({ kind }) => kind === 'message.posted')!;
    plain = events[1]!;
    sent = (await read((reader) => reader.command(said.commandHash)))!.body;
    const { signer } = played.tenant.keyOf(organization().authority);
    const renditions = new Renditions({ store: opened.store, signers: { signerOf: () => Promise.resolve(signer) } });
    const { groupId, position } = said;
    const marks = await read((reader) => reader.withheldEvents(groupId, position, position));
    await renditions.make(organization(), marks);
    vandal = await Vandal.over(opened);
  });
  afterAll(async () => {
    await vandal.close();
    await opened.close();
  });

  const original = (text: string) => {
    const found = readOriginal(Buffer.from(text, 'utf8'));
    if (typeof found === 'string') throw new Error(found);
    return found;
  };

  const inStore = (asked: Original) =>
    read(async (reader) => {
      const { organizationId, authority } = organization();
      const { registry } = await verifyRegistry(organization(), reader);
      const accepting = { organizationId, authority, evidence: registryEvidence(organizationId, registry) };
      return checkOriginal(asked, await storedStanding(asked, organizationId, reader), accepting);
    });

  const bundle = (groupId = played.mission.groupId) => exportedText(played.tenant, groupId, opened.store);

  async function inBundle(asked: Original, text: string) {
    const report = await verifyBundle(inChunks(text), { original: asked });
    return { faults: report.sentences, told: report.original };
  }

  it('MWP-MSN-009c: is proven with its position, its chain and the rendition in its place, by a store and by a bundle', async () => {
    const text = await bundle();
    for (const answer of [await inStore(original(said.body)), await inBundle(original(`${said.body}\n`), text)]) {
      expect(answer.faults).toEqual([]);
      const told = answer.told.join('\n');
      expect(told).toContain(`the original of sequence ${said.position} of ${said.groupId}`);
      expect(told).toContain(said.signingHash);
      expect(told).toContain(said.chainHash);
      expect(told).toContain(`the rendition of cause redacted at sequence ${said.position} names this hash`);
      expect(told).toContain('its body is still kept here');
    }
    for (const answer of [await inStore(original(sent)), await inBundle(original(sent), text)]) {
      expect(answer.faults).toEqual([]);
      expect(answer.told.join('\n')).toContain(`that led to sequence ${said.position} of ${said.groupId}`);
    }
    for (const body of [plain.body]) expect((await inStore(original(body))).faults).toEqual([]);
    const of = async (row: EventRow) => (await read((reader) => reader.command(row.commandHash)))!.body;
    expect((await inStore(original(await of(plain)))).faults).toEqual([]);
    // The Organization's own logs have originals, too.
    const stream = `session ${played.mission.coordinator.principal.id}`;
    const [opening] = await read((reader) => reader.events(stream, 0, 1));
    expect(await inStore(original(opening!.body))).toMatchObject({ faults: [] });
    // A Group that has not accepted it does not know it.
    const other = await bundle(played.other.groupId);
    expect((await inBundle(original(said.body), other)).faults).toEqual([
      'the original: no Event of this id or hash was accepted here',
    ]);
    expect((await inBundle(original(sent), other)).faults).toHaveLength(1);
  });

  it('MWP-MSN-009c: is still proven where both bodies are gone', async () => {
    const event = (await vandal.rows('events')).find((row) => row['event_id'] === said.eventId)!;
    const command = (await vandal.rows('commands')).find((row) => row['signing_hash'] === said.commandHash)!;
    const undo = [
      await vandal.set('events', event, { body: null }),
      await vandal.set('commands', command, { body: null }),
    ];
    for (const text of [said.body, sent]) {
      const { faults, told } = await inStore(original(text));
      expect(faults).toEqual([]);
      expect(told.at(-1)).toBe('its body is not kept here any more');
    }
    for (const back of undo) await back?.();
  });

  it('is nothing else: other words, another signer, another spelling, the rendition itself, spoilt bytes', async () => {
    const { signature: _signature, ...unsigned } = JSON.parse(said.body) as Record<string, never>;
    const payload = { ...(unsigned['payload'] as unknown as object), contentSalt: 'A'.repeat(22) };
    const authority = played.tenant.keyOf(organization().authority);
    const forged = signDocument('event', { ...unsigned, payload } as never, authority.signer).text;
    expect((await inStore(original(forged))).faults).toEqual([expect.stringMatching(/^its signing hash is sha256:/)]);
    // The signature is outside its own hash: another one of the same key leaves the hash as it was.
    const { value } = (JSON.parse(plain.body) as Signed).signature;
    const whole = JSON.parse(said.body) as Signed;
    const badly = JSON.stringify({ ...whole, signature: { ...whole.signature, value } });
    expect((await inStore(original(badly))).faults).toContainEqual(expect.stringMatching(/signature: equation-fails/));
    expect((await inStore(original(` ${said.body}`))).faults).toContainEqual(
      expect.stringMatching(/not in canonical form/),
    );
    const [rendition] = await read((reader) => reader.renditionRows(said.groupId, said.position, said.position));
    expect(readOriginal(Buffer.from(rendition!.body))).toMatch(/holds a rendition/);
    for (const bytes of ['', 'null', '{}', said.body.slice(1), `${said.body}${said.body}`, `\ufeff${said.body}`])
      expect(readOriginal(Buffer.from(bytes))).toMatch(/neither/);
    const unknown = original(said.body.replace(said.eventId, 'urn:uuid:00000000-0000-4000-8000-000000000000'));
    expect((await inStore(unknown)).faults).toEqual(['no Event of this id or hash was accepted here']);
  });

  it('finds a chain, a row and a rendition that say otherwise', async () => {
    const row = (await vandal.rows('events')).find((one) => one['event_id'] === said.eventId)!;
    const rendition = (await vandal.rows('renditions')).find((one) => one['event_id'] === said.eventId)!;
    const hash = `sha256:${'0'.repeat(64)}`;
    const changes: [string, typeof row, object, RegExp][] = [
      ['events', row, { chain_hash: hash }, /does not follow from it/],
      ['events', row, { signing_hash: hash }, /its signing hash is/],
      ['events', row, { kind: 'message.corrected' }, /not what was signed in kind/],
      ['events', row, { command_hash: hash }, /not what was signed in commandHash/],
      [
        'renditions',
        rendition,
        { body: String(rendition['body']).replace(said.signingHash, hash) },
        /another original/,
      ],
    ];
    for (const [table, place, change, sentence] of changes) {
      const undo = await vandal.set(table, place, change as Record<string, unknown>);
      expect((await inStore(original(said.body))).faults.join('\n')).toMatch(sentence);
      await undo?.();
      // On PostgreSQL a changed row has another place.
      const anew = (await vandal.rows(table)).find((one) => one['event_id'] === said.eventId)!;
      place['place'] = anew['place'];
    }
    expect((await inStore(original(said.body))).faults).toEqual([]);
  });

  it('is asked for on the command line: exit code 0, or 1 with a sentence, or 2', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mwp-original-'));
    const file = (name: string) => join(folder, name);
    try {
      writeFileSync(file('event.json'), said.body);
      writeFileSync(file('none.json'), '{}');
      writeFileSync(file('group.ndjson'), await bundle());
      writeFileSync(file('other.ndjson'), await bundle(played.other.groupId));
      const run = (...args: string[]) => runMwp(['verify', '--original', ...args], { MWP_DATA_DIR: folder });
      const good = await run(file('event.json'), '--bundle', file('group.ndjson'));
      expect([good.code, good.stderr]).toEqual([0, '']);
      expect(good.stdout).toContain(`original: Event ${said.eventId}, message.posted: the original of sequence`);
      const other = await run(file('event.json'), '--bundle', file('other.ndjson'));
      expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('the original: no Event of this id')]);
      expect(other.stdout).not.toContain('original: ');
      const none = await run(file('none.json'), '--bundle', file('group.ndjson'));
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('holds neither a signed Event')]);
      expect((await run(file('gone.json'), '--org', 'x')).stderr).toContain('cannot be read');
      expect((await run(file('event.json'))).code).toBe(2);
      expect((await run(file('event.json'), '--org', 'x', '--heads', 'y')).code).toBe(2);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

interface Signed {
  signature: { value: string };
}
