// A genuine signature is where authorization begins, and never what it rests on.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SIGNED_TIME_TOLERANCE_SECONDS } from '../../src/authority/policy-history.ts';
import { StoreEvidence } from '../../src/authority/registry-evidence.ts';
import type { Policy } from '../../src/domain/policy.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { CODING, Tenant } from '../support/tenant.ts';

const SESSION_OPEN = 'ext.missionweaveprotocol.identity.session_open';
const CARD_REGISTER = 'ext.missionweaveprotocol.registry.agent_card_register';
const RIGHTS_OF = ({ principal }: ActorKey) => ({ serviceId: principal.id, relay: false });

describe.each(STORES)('authorization on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let agent: ActorKey;
  let identity: ActorKey;
  let time = Date.parse('2026-11-29T12:00:00.000Z');
  const clock = () => time;

  beforeEach(async () => {
    opened = await open({ clock });
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store, { clock });
    agent = await tenant.agent('ada');
    identity = tenant.keyOf(tenant.organization.identity);
  });
  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  async function changePolicy(change: (policy: Policy) => void): Promise<void> {
    const { organizationId } = tenant.organization;
    const policy = structuredClone(await tenant.store.organizations.policy(organizationId));
    change(policy);
    policy.version += 1;
    await tenant.store.organizations.changeRegistry(organizationId, { policy });
  }
  const mayOpenSessions = (may: boolean) =>
    changePolicy(({ services }) => {
      for (const rights of services.filter(({ serviceId }) => serviceId === identity.principal.id)) {
        rights.kinds = may ? [SESSION_OPEN] : [];
      }
    });
  const signedOpening = () => tenant.sign(identity, { kind: SESSION_OPEN, payload: { agentId: agent.principal.id } });

  /** The code, and for a refusal the proof that it left no row but its audit. */
  async function outcome(bytes: Uint8Array, { principal }: ActorKey): Promise<string> {
    const rows = async () => ({ ...(await behind.rowCounts()), audit: 0 });
    const before = await rows();
    const answer = await tenant.submitBytes(bytes, principal);
    if (answer.accepted) return 'accepted';
    expect(await rows()).toEqual(before);
    return answer.refusal.code;
  }

  it('MWP-ADM-014a: a right of a service that is lost between signing and acceptance is no right any more', async () => {
    const bytes = signedOpening();
    time += 60_000; // it had the right when it signed, however clocks differ
    await mayOpenSessions(false);
    expect(await outcome(bytes, identity)).toBe('AUTH_FORBIDDEN');
    await mayOpenSessions(true);
    expect(await outcome(bytes, identity)).toBe('accepted');
  });

  it('MWP-ADM-014a: nor does the signature of a human alone let them own a Mission', async () => {
    const [olga, otto] = [await tenant.human('olga'), await tenant.human('otto')];
    const creation = (owner: ActorKey) => tenant.sign(owner, Mission.draft(tenant, owner, agent).creation());
    const bytes = creation(olga);
    await changePolicy((policy) => (policy.missionOwners = [otto.principal.id]));
    expect(await outcome(bytes, olga)).toBe('AUTH_FORBIDDEN');
    expect(await outcome(creation(otto), otto)).toBe('accepted');
  });

  describe('MWP-ADM-014a: a right that came after the signature is none of it', () => {
    const later = (seconds: number) => (time += seconds * 1_000);
    /** Farther apart than clocks may be. */
    const AFTER = SIGNED_TIME_TOLERANCE_SECONDS + 1;

    it('a Command that a service signed before it might stays forbidden, also in a process that begins now', async () => {
      await mayOpenSessions(false);
      later(AFTER);
      const before = signedOpening();
      later(AFTER);
      await mayOpenSessions(true);
      expect(await outcome(before, identity)).toBe('AUTH_FORBIDDEN');
      const fresh = tenant.anotherAuthority(tenant.store);
      const answer = await tenant.submitBytes(before, identity.principal, fresh);
      expect(answer).toMatchObject({ accepted: false, refusal: { code: 'AUTH_FORBIDDEN' } });
      expect(await outcome(signedOpening(), identity)).toBe('accepted');
    });

    it('a clock that is a little slow loses nobody what was given just now', async () => {
      await mayOpenSessions(false);
      later(AFTER);
      const tooEarly = signedOpening();
      time += 1;
      const inTime = signedOpening();
      later(SIGNED_TIME_TOLERANCE_SECONDS);
      await mayOpenSessions(true);
      expect(await outcome(inTime, identity)).toBe('accepted');
      expect(await outcome(tooEarly, identity)).toBe('AUTH_FORBIDDEN');
    });

    it('what stood at both times is enough, whatever was between them', async () => {
      const bytes = signedOpening();
      for (const may of [false, true]) {
        later(AFTER);
        await mayOpenSessions(may);
      }
      expect(await outcome(bytes, identity)).toBe('accepted');
    });

    it('a human who signed as an owner before the policy named them, and one whom it named and names no more', async () => {
      const [olga, otto] = [await tenant.human('olga'), await tenant.human('otto')];
      const creation = (owner: ActorKey) => tenant.sign(owner, Mission.draft(tenant, owner, agent).creation());
      await changePolicy((policy) => (policy.missionOwners = [otto.principal.id]));
      later(AFTER);
      const [byOlga, byOtto] = [creation(olga), creation(otto)];
      later(AFTER);
      await changePolicy((policy) => (policy.missionOwners = [olga.principal.id]));
      expect([await outcome(byOlga, olga), await outcome(byOtto, otto)]).toEqual(['AUTH_FORBIDDEN', 'AUTH_FORBIDDEN']);
      expect(await outcome(creation(olga), olga)).toBe('accepted');
    });

    it('a Card is judged by when it was issued, not by when it is sent', async () => {
      const registrar = tenant.keyOf(tenant.organization.registrar);
      const register = (cardVersion: number, issuedAt = tenant.now()) => {
        const { signature: _signature, ...card } = tenant.card(agent, cardVersion, [CODING], { issuedAt });
        const signed = signDocument('agent-card', card, identity.signer).document;
        return () => outcome(tenant.sign(registrar, { kind: CARD_REGISTER, payload: { card: signed } }), registrar);
      };
      const issuedBefore = register(2);
      later(AFTER);
      await changePolicy(({ services }) => services.push({ ...RIGHTS_OF(identity), kinds: [CARD_REGISTER] }));
      expect(await issuedBefore()).toBe('AUTH_FORBIDDEN');
      expect(await register(2)()).toBe('accepted');
      expect(await register(3, '9999-12-31T23:59:59.999Z')()).toBe('accepted');
    });

    it('Evidence of a service is judged by when it was made', async () => {
      const [olga, worker] = [await tenant.human('olga'), await tenant.agent('worker')];
      const mission = await Mission.create(tenant, olga, agent);
      await mission.join(worker);
      const item = await mission.active(worker);
      const { artifactId, contentHash } = await mission.publish(worker, item);
      const authority = tenant.keyOf(tenant.organization.authority);
      const submit = (evidence: object) => {
        const draft = mission.draft('work.submit', { ...item, artifactIds: [artifactId], evidence: [evidence] });
        return outcome(tenant.sign(worker, draft, mission.epochsOf(worker)), worker);
      };
      const testedBefore = mission.evidence(authority, item.workItemId, [contentHash]);
      expect(await submit(testedBefore)).toBe('AUTH_FORBIDDEN');
      later(AFTER);
      await changePolicy(({ services }) => services.push({ ...RIGHTS_OF(authority), kinds: [] }));
      expect(await submit(testedBefore)).toBe('AUTH_FORBIDDEN');
      expect(await submit(mission.evidence(authority, item.workItemId, [contentHash]))).toBe('accepted');
    });
  });

  it('MWP-ADM-014c: who has no right and signs badly, late or with an unknown key is told of the signature only', async () => {
    await mayOpenSessions(false);
    const bytes = signedOpening();
    const text = Buffer.from(bytes).toString('utf8');
    const changed = text.replace(agent.principal.id, `${agent.principal.id}x`);
    expect(await outcome(Buffer.from(changed), identity)).toBe('AUTH_INVALID_SIGNATURE');
    const unknown = { ...generateActorKey(identity.principal) };
    const byUnknown = tenant.sign(unknown, { kind: SESSION_OPEN, payload: { agentId: agent.principal.id } });
    expect(await outcome(byUnknown, identity)).toBe('AUTH_INVALID_SIGNATURE');
    expect(await outcome(bytes, identity)).toBe('AUTH_FORBIDDEN');
    time += 3_600_000; // admission fails now, for freshness
    expect(await outcome(bytes, identity)).toBe('AUTH_INVALID_SIGNATURE');
  });

  it('MWP-SDV-004b: keys of humans and services count without any Card; only an Agent needs one, to open a session', async () => {
    const olga = await tenant.human('olga');
    expect(await outcome(tenant.sign(olga, Mission.draft(tenant, olga, agent).creation()), olga)).toBe('accepted');
    expect(await outcome(signedOpening(), identity)).toBe('accepted');
    const cardless = generateActorKey({ type: 'agent', id: `${agent.principal.id}:cardless` });
    const { keyId, principal, publicKey } = cardless;
    const { organizationId } = tenant.organization;
    await tenant.store.organizations.changeRegistry(organizationId, {
      principals: [{ principal, displayName: 'without a Card' }],
      bindings: [{ keyId, principal, publicKey, algorithm: 'Ed25519', validFrom: '2020-01-01T00:00:00Z' }],
    });
    const evidence = new StoreEvidence(tenant.store.organizations);
    for (const key of [olga, identity, cardless]) {
      expect(await evidence.resolve(organizationId, key.keyId)).toMatchObject({
        outcome: 'established',
        binding: { principal: key.principal, publicKey: key.publicKey },
      });
    }
    expect(await evidence.resolve(organizationId, 'urn:test:key:none')).toMatchObject({ binding: undefined });
    const cards = await tenant.store.read(organizationId, (reader) => reader.streamIds());
    expect(cards.filter((stream) => stream.startsWith('card '))).toEqual([`card ${agent.principal.id}`]);
    const opening = tenant.sign(identity, { kind: SESSION_OPEN, payload: { agentId: principal.id } });
    expect(await outcome(opening, identity)).toBe('INVALID_COMMAND');
  });
});
