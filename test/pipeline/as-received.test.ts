// Identifiers and times as they came: compared byte by byte, never normalised, never rewritten, in either store.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Receipt } from '../../src/authority/ports.ts';
import { signDocument, signingHash, type Signed } from '../../src/trust/signing.ts';
import type { SignedDocument } from '../../src/trust/signed-kinds.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { id, Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';

const LOWER_CASE_UUID = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe.each(STORES)('as received, on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let owner: ActorKey;
  let mission: Mission;
  const time = Date.parse('2026-11-29T12:00:00.500Z');

  beforeEach(async () => {
    opened = await open({ clock: () => time });
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store, { clock: () => time });
    owner = await tenant.human('olga');
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
  });
  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  async function say(messageId: string, more: object = {}) {
    const [conversation] = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    const payload = { messageId, conversationId: conversation?.id ?? '', content: 'hello' };
    return mission.draft('message.post', payload, more);
  }
  const outcome = async (draft: ReturnType<typeof mission.draft>) =>
    tenant.outcome(owner, draft, mission.epochsOf(owner));

  it('MWP-FND-008b: every id that the service mints is a lower-case urn:uuid', async () => {
    const worker = await tenant.agent('worker');
    await mission.join(worker);
    await mission.finish(worker, await mission.active(worker));
    const rows = async (query: string) => (await behind.query(query)).map((row) => String(Object.values(row)[0]));
    const bodies = (await rows('SELECT body FROM {events}')).map(
      (body) => JSON.parse(body) as { eventId: string; payload: unknown },
    );
    expect(bodies.length).toBeGreaterThan(8);
    const minted = [
      ...bodies.map(({ eventId }) => eventId),
      ...(await rows('SELECT admission_record_id FROM {admissions}')),
      ...[...JSON.stringify(bodies).matchAll(/"(?:leaseId|executionLeaseId|offerId|entryId)":"([^"]+)"/g)].map(
        ([, found]) => String(found),
      ),
    ];
    expect(minted.length).toBeGreaterThan(3 * 8);
    for (const found of minted) expect(found).toMatch(LOWER_CASE_UUID);
  });

  it('MWP-FND-008c: two spellings of an id are two ids, and each of them is taken once', async () => {
    const pairs = [
      ['urn:test:message:%7Ea', 'urn:test:message:~a'],
      ['urn:test:message:%7Eb', 'urn:test:message:%7eb'],
      ['urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11', 'URN:UUID:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11'],
      ['urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b12', 'urn:uuid:0B8A7A2E-0F7E-4A6D-8A3C-1F6F4A3F2B12'],
      ['https://messages.example/a', 'https://MESSAGES.example:443/a'],
    ];
    for (const pair of pairs) {
      for (const spelling of pair)
        expect([spelling, await outcome(await say(spelling))]).toEqual([spelling, 'accepted']);
      for (const spelling of pair) expect(await outcome(await say(spelling))).toBe('INVALID_STATE_TRANSITION');
    }
  });

  it('MWP-FND-008c: so they are of an Action and of a Group', async () => {
    const actionId = id();
    const first = await say(id(), { actionId });
    expect(await outcome(first)).toBe('accepted');
    expect(await outcome(await say(id(), { actionId }))).toBe('ACTION_ID_COLLISION');
    expect(await outcome(await say(id(), { actionId: actionId.toUpperCase() }))).toBe('accepted');
    expect(await outcome(await say(id(), { groupId: mission.groupId.toUpperCase() }))).toBe('GROUP_NOT_FOUND');
    expect(await outcome(await say(id(), { groupId: mission.groupId }))).toBe('accepted');
  });

  it('MWP-FND-005b: a Command dated with trailing zeros is kept byte for byte, and its hash is that of those bytes', async () => {
    const bytes = tenant.sign(owner, await say(id()), mission.epochsOf(owner));
    const { signature: _signature, ...unsigned } = JSON.parse(
      Buffer.from(bytes).toString(),
    ) as SignedDocument<'command'>;
    const signedAt = (issuedAt: string) => signDocument('command', { ...unsigned, issuedAt }, owner.signer);
    const submit = ({ text }: Signed<'command'>) => tenant.submitBytes(Buffer.from(text), owner.principal);
    const long = signedAt('2026-11-29T12:00:00.500000Z');
    const answer = await submit(long);
    if (!answer.accepted) throw new Error(answer.refusal.code);
    const kept = await behind.query(`SELECT body, issued_at FROM {commands} WHERE action_id = '${unsigned.actionId}'`);
    expect(kept).toEqual([{ body: long.text, issued_at: '2026-11-29T12:00:00.500000Z' }]);
    expect((JSON.parse(answer.receipt) as Receipt).commandHash).toBe(signingHash(long.document));
    // The same instant in another spelling is other content.
    const short = await submit(signedAt('2026-11-29T12:00:00.5Z'));
    expect(short).toMatchObject({ accepted: false, refusal: { code: 'ACTION_ID_COLLISION' } });
  });

  it('MWP-FND-005b: an embedded document is kept and relayed with the spelling of its signer', async () => {
    const agent = await tenant.agent('ada');
    const issuedAt = '2026-11-29T12:00:00.500000Z';
    const { events } = await tenant.registerCard(agent, 2, undefined, { issuedAt });
    const card = events[0]?.payload['card'] as SignedDocument<'agent-card'>;
    expect([card.issuedAt, card.signature.createdAt]).toEqual([issuedAt, issuedAt]);
    const hash = signingHash(card);
    const [document] = await behind.query(`SELECT body FROM {documents} WHERE signing_hash = '${hash}'`);
    expect(JSON.parse(String(document?.['body']))).toEqual(card);
  });
});
