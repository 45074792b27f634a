// A key of the Organization's own services is replaced while the service works, and what it signed stays provable.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAuthority } from '../../src/authority/authority.ts';
import type { Authority } from '../../src/authority/ports.ts';
import { StoreEvidence } from '../../src/authority/registry-evidence.ts';
import { ROTATION_MILLISECONDS } from '../../src/http/operator/service-keys.ts';
import { KEPT_MILLISECONDS, VaultSigners } from '../../src/platform/tenant-signers.ts';
import { RECHECK_MILLISECONDS } from '../../src/http/auth/key-watch.ts';
import { verifyDocument } from '../../src/trust/verify.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { checkSeal } from '../support/sealing.ts';
import { Mission, type MissionTenant } from '../support/mission.ts';
import { agentCard } from './cards.ts';
import { refusalIn } from './api.ts';
import { human, Operator, vault } from './operator-api.ts';

const START = Date.parse('2026-11-29T12:00:00.000Z');

describe.each(STORES)('keys of the services on $name', ({ open }) => {
  let opened: OpenedStore;
  let operator: Operator;
  let authority: Authority;
  let olga: ActorKey;
  let ada: ActorKey;
  let time = START;
  const at = (milliseconds: number) => new Date(START + milliseconds).toISOString();

  beforeEach(async () => {
    time = START;
    opened = await open({ clock: () => time });
    operator = new Operator(opened.store);
    const signers = new VaultSigners(opened.store.organizations, vault);
    authority = createAuthority({ store: opened.store, signers, checkSeal });
    await operator.create('acme', { organizationId: 'urn:test:acme' });
    olga = human();
    await operator.register(olga);
    ada = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
    expect((await registerCard(1)).status).toBe(201);
    expect((await operator.logIn(ada, true)).json.sessionEpoch).toBe(1);
  });
  afterEach(() => opened.close());

  const registerCard = (cardVersion: number) =>
    operator.call('POST', '/organizations/acme/agents', { card: agentCard(ada, { cardVersion }) });
  const rotate = (service: string) => operator.call('POST', `/organizations/acme/services/${service}/rotate-key`);

  /** The Events of a Command that is accepted now. */
  async function accept(): Promise<string[]> {
    const organization = await opened.store.organizations.bySlug('acme');
    if (!organization) throw new Error('no Organization');
    const now = () => new Date(time).toISOString();
    const tenant = { now } as MissionTenant;
    const { bytes } = signCommand(olga, Mission.draft(tenant, olga, ada).creation(), {}, time);
    const submission = await authority.submit(organization, bytes, { principal: olga.principal });
    if (!submission.accepted) throw new Error(`${submission.refusal.code} ${submission.refusal.message}`);
    return submission.events;
  }
  const keyOf = ([body = '']: string[]) => (JSON.parse(body) as { signature: { keyId: string } }).signature.keyId;

  it('MWP-SDV-014a: the authority signs under the old key until the moment, and under the new one from it on', async () => {
    const before = await accept();
    const rotated = await rotate('authority');
    expect([rotated.status, rotated.json]).toMatchObject([
      201,
      {
        keyId: 'urn:test:acme:key:authority:2',
        validFrom: at(ROTATION_MILLISECONDS),
        ended: ['urn:test:acme:key:authority:1'],
      },
    ]);
    time = START + ROTATION_MILLISECONDS - 1;
    const justBefore = await accept();
    time += 1;
    const after = await accept();
    expect([before, justBefore, after].map(keyOf)).toEqual([
      'urn:test:acme:key:authority:1',
      'urn:test:acme:key:authority:1',
      'urn:test:acme:key:authority:2',
    ]);
    const evidence = new StoreEvidence(opened.store.organizations, { checkSeal });
    for (const body of [...before, ...justBefore, ...after]) {
      expect(await verifyDocument('event', { bytes: Buffer.from(body) }, 'urn:test:acme', evidence)).toMatchObject({
        ok: true,
      });
    }
  });

  it('the services that open sessions and issue Cards go on under their new keys, and earlier Cards stay genuine', async () => {
    for (const service of ['registrar', 'identity']) expect((await rotate(service)).status).toBe(201);
    time += ROTATION_MILLISECONDS;
    // A process of its own: what this one found a moment ago is kept by the host's clock, which a test does not move.
    operator = new Operator(opened.store);
    const second = await registerCard(2);
    expect((await operator.logIn(ada, true)).json.sessionEpoch).toBe(2);
    const evidence = new StoreEvidence(opened.store.organizations, { checkSeal });
    const cards = (
      await opened.store.read('urn:test:acme' as never, (reader) => reader.events('card urn:test:agent:ada', 0, 2))
    ).map(({ body }) => (JSON.parse(body) as { payload: { card: object } }).payload.card);
    expect(cards.at(-1)).toEqual(second.json.agentCard);
    const verified = await Promise.all(
      cards.map((card) => verifyDocument('agent-card', { value: card }, 'urn:test:acme', evidence)),
    );
    expect(verified).toMatchObject([
      { ok: true, keyId: 'urn:test:acme:key:registrar:1' },
      { ok: true, keyId: 'urn:test:acme:key:registrar:2' },
    ]);
  });

  it('MWP-SDV-014a: who signed just before the moment does not go on under the ended key at the moment', async () => {
    for (const service of ['registrar', 'identity']) expect((await rotate(service)).status).toBe(201);
    // A process that first looks for these keys now. What it finds stands a while by the host's clock, which no test moves.
    operator = new Operator(opened.store);
    time = START + ROTATION_MILLISECONDS - 1;
    expect((await registerCard(2)).status).toBe(201);
    expect((await operator.logIn(ada, true)).json.sessionEpoch).toBe(2);
    time += 1;
    const [registered, loggedIn] = [await registerCard(3), await operator.logIn(ada, true)];
    expect([registered.status, registered.json['agentCard']]).toMatchObject([
      201,
      { cardVersion: 3, signature: { keyId: 'urn:test:acme:key:registrar:2' } },
    ]);
    expect([loggedIn.status, loggedIn.json.sessionEpoch]).toEqual([200, 3]);
  });

  it('a second rotation waits for the first; two at once are one', async () => {
    const answers = await Promise.all([rotate('authority'), rotate('authority')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(refusalIn(await rotate('authority'))).toBe('409 INVALID_STATE_TRANSITION');
    time += ROTATION_MILLISECONDS;
    expect((await rotate('authority')).json).toMatchObject({
      keyId: 'urn:test:acme:key:authority:3',
      ended: ['urn:test:acme:key:authority:2'],
    });
  });

  it('takes no other service, and no Organization that is not there', async () => {
    expect(refusalIn(await rotate('janitor'))).toBe('422 INVALID_COMMAND');
    const nowhere = await operator.call('POST', '/organizations/nowhere/services/authority/rotate-key');
    expect(refusalIn(nowhere)).toBe('404 INVALID_COMMAND');
  });

  it('no key ends at a moment that the clock or an Event of the Organization has reached', async () => {
    await accept();
    const change = (takesEffectAt: string) =>
      opened.store.organizations.changeRegistry('urn:test:acme' as never, {
        validity: [{ keyId: olga.keyId, recordedAt: at(0), validUntil: takesEffectAt }],
        takesEffectAt,
      });
    const passed = { outcome: 'refused', reason: 'moment_passed' };
    expect(await change(at(0))).toEqual(passed);
    // The clock goes back: the Event of a moment ago is still the latest of the Organization.
    time -= 5_000;
    expect(await change(at(-1))).toEqual(passed);
    expect(await change(at(0))).toEqual(passed);
    expect(await change(at(1))).toMatchObject({ outcome: 'done' });
  });

  it('the wait is longer than anybody keeps the keys that it found', () => {
    expect(ROTATION_MILLISECONDS).toBeGreaterThan(KEPT_MILLISECONDS);
    expect(ROTATION_MILLISECONDS).toBeGreaterThan(RECHECK_MILLISECONDS);
  });
});
