import { describe, expect, it } from 'vitest';
import { activeMission, byWorker, COORDINATOR, GROUP, OWNER, WORKER } from '../support/fixtures.ts';
import { ITEM, leaseIdOf, seedItem } from '../support/seeded-work.ts';
import { agentCard, publicKey } from '../support/signed-documents.ts';
import { ORGANIZATION, World, type CommandDraft } from '../support/world.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import type { Principal } from '../../src/protocol/principals.ts';

const KIND = 'ext.missionweaveprotocol.registry.agent_card_register';
const REGISTRAR: Principal = { type: 'service', id: 'urn:test:service:registrar' };
const METERING: Principal = { type: 'service', id: 'urn:test:service:metering' };

function allowRegistrar(world: World): World {
  world.policy.services = [
    { serviceId: REGISTRAR.id, kinds: [KIND], relay: false },
    { serviceId: METERING.id, kinds: ['ext.missionweaveprotocol.core.resource_usage_record'], relay: false },
  ];
  return world;
}

const world = () => allowRegistrar(new World());

function register(card: object, envelope: object = {}): CommandDraft {
  return { kind: KIND, actor: REGISTRAR, payload: { card }, ...envelope };
}

describe('agent_card_register', () => {
  it('MWP-EVT-005b: appends one Event of the Organization with the Card and its hash, and puts the Card in force', () => {
    const given = world();
    const card = agentCard(WORKER, { validUntil: '2027-01-01T00:00:00Z' });
    const [event, ...others] = given.accept(register(card));
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'ext.missionweaveprotocol.registry.agent_card_registered',
      payload: { agentId: WORKER.id, version: 1, card },
    });
    expect(event).not.toHaveProperty('groupId');
    expect(event).not.toHaveProperty('sequence');
    expect(event).not.toHaveProperty('aggregateRevision');
    expect(given.view.get('agent_card', WORKER.id)).toEqual({
      agentId: WORKER.id,
      cardVersion: 1,
      status: 'active',
      capabilities: [{ id: 'software.coding', version: '1.2.0' }],
      maxConcurrency: 3,
      issuedAt: card.issuedAt,
      validUntil: '2027-01-01T00:00:00Z',
      signingHash: event?.payload['cardHash'],
    });
  });

  it('MWP-IDN-007a: hands the Registry the Agent, its keys, and the ends that the Card gives them', () => {
    const ending = publicKey('2', { validUntil: '2027-01-01T00:00:00Z' });
    const revoked = publicKey('3', { revokedAt: '2026-12-01T00:00:00Z' });
    const card = agentCard(WORKER, { publicKeys: [publicKey('1'), ending, revoked] });
    const { registry } = world().decide(register(card)) as Accepted;
    expect(registry).toEqual({
      principals: [{ principal: WORKER, displayName: 'Ada' }],
      bindings: [publicKey('1'), publicKey('2'), publicKey('3')].map(({ keyId, publicKey, validFrom }) => ({
        keyId,
        principal: WORKER,
        publicKey,
        validFrom,
      })),
      validity: [
        { keyId: 'urn:test:key:2', validUntil: '2027-01-01T00:00:00Z' },
        { keyId: 'urn:test:key:3', revokedAt: '2026-12-01T00:00:00Z' },
      ],
    });
  });

  it('MWP-IDN-001a: takes a higher version only', () => {
    const given = world();
    given.accept(register(agentCard(WORKER, { cardVersion: 3 })));
    for (const cardVersion of [2, 3]) {
      expect(given.decide(register(agentCard(WORKER, { cardVersion })))).toMatchObject({
        code: 'REVISION_CONFLICT',
        currentRevision: 3,
      });
    }
    expect(given.outcome(register(agentCard(WORKER, { cardVersion: 4 })))).toBe('accepted');
  });

  it('refuses a Card of another Organization, and one key named twice', () => {
    const foreign = agentCard(WORKER, { organizationId: `${ORGANIZATION}:other` });
    expect(world().outcome(register(foreign))).toBe('AUTH_FORBIDDEN');
    const sameId = [publicKey('1'), publicKey('1', { publicKey: 'B'.repeat(43) })];
    const sameKey = [publicKey('1'), publicKey('2', { publicKey: publicKey('1').publicKey })];
    expect(world().outcome(register(agentCard(WORKER, { publicKeys: sameId })))).toBe('INVALID_COMMAND');
    expect(world().outcome(register(agentCard(WORKER, { publicKeys: sameKey })))).toBe('INVALID_COMMAND');
    const two = [publicKey('1'), publicKey('2')];
    expect(world().outcome(register(agentCard(WORKER, { publicKeys: two })))).toBe('accepted');
  });

  it('MWP-IDN-001a, MWP-SDV-001b, MWP-ADM-014b: refuses a Card that an Agent or a service without that right signed', () => {
    for (const signer of [WORKER, METERING]) {
      const given = world();
      given.signer = signer;
      expect(given.outcome(register(agentCard(WORKER)))).toBe('AUTH_FORBIDDEN');
    }
  });

  it('MWP-IDN-001b, MWP-IDN-002: refuses a Card that lacks a part or has members of its own', () => {
    const { publicKeys: _keys, ...withoutKeys } = agentCard(WORKER);
    expect(world().outcome(register(withoutKeys))).toBe('SCHEMA_VALIDATION_FAILED');
    expect(world().outcome(register(agentCard(WORKER, { permissions: ['all'] })))).toBe('SCHEMA_VALIDATION_FAILED');
    expect(world().outcome(register({ agentId: 7 }))).toBe('SCHEMA_VALIDATION_FAILED');
  });

  it('is for services that the policy allows it to', () => {
    expect(world().outcome(register(agentCard(WORKER), { actor: METERING }))).toBe('AUTH_FORBIDDEN');
    expect(world().outcome(register(agentCard(WORKER), { actor: OWNER }))).toBe('AUTH_FORBIDDEN');
  });

  it('MWP-EVT-007a: compares expectedRevision with the version in force', () => {
    const given = world();
    expect(given.outcome(register(agentCard(WORKER), { expectedRevision: 1 }))).toBe('REVISION_CONFLICT');
    given.accept(register(agentCard(WORKER), { expectedRevision: 0 }));
    const next = agentCard(WORKER, { cardVersion: 2 });
    expect(given.outcome(register(next, { expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(register(next, { expectedRevision: 1 }))).toBe('accepted');
  });
});

describe('agent_card_register with status revoked', () => {
  const revoked = agentCard(WORKER, { cardVersion: 2, status: 'revoked' });
  const start = byWorker('work.start', { workItemId: ITEM, ownershipEpoch: 1 });

  it('returns what the Agent executes to queued, with its leases revoked and its ownership kept for a while', () => {
    const given = allowRegistrar(activeMission());
    seedItem(given);
    const [card, event, ...others] = given.accept(register(revoked));
    expect(others).toEqual([]);
    expect(card?.kind).toBe('ext.missionweaveprotocol.registry.agent_card_registered');
    expect(event).toMatchObject({
      kind: 'ext.missionweaveprotocol.core.work_execution_lease_revoked',
      groupId: GROUP,
      workItemId: ITEM,
      aggregateRevision: 8,
      causedBy: 0,
      payload: { reason: 'card_revoked', status: 'queued', executionLeaseId: leaseIdOf(ITEM, 'execution') },
    });
    expect(given.view.get('work_item', ITEM)?.workItem.state).toBe('queued');
    expect(given.view.get('lease', leaseIdOf(ITEM, 'execution'))?.state).toBe('revoked');
  });

  it('MWP-IDN-008b: ends every session so far, for good', () => {
    const given = allowRegistrar(activeMission());
    seedItem(given, { state: 'queued' });
    given.accept(register(revoked));
    expect(given.outcome(start)).toBe('AUTH_STALE_SESSION');
    expect(given.outcome({ ...start, sessionEpoch: 2 })).toBe('AUTH_STALE_SESSION');
    given.accept(register(agentCard(WORKER, { cardVersion: 3 })));
    expect(given.outcome(start)).toBe('AUTH_STALE_SESSION');
  });

  it('leaves the Agent alone when the new Card is active, or another Agent is meant', () => {
    const given = allowRegistrar(activeMission());
    seedItem(given);
    given.accept(register(agentCard(WORKER, { cardVersion: 2, status: 'deprecated' })));
    given.accept(register(agentCard(COORDINATOR, { cardVersion: 2, status: 'revoked' })));
    expect(given.view.get('work_item', ITEM)?.workItem.state).toBe('active');
  });

  it.each([
    ['publicKeys', 50, (at: number) => publicKey(String(at), { publicKey: String(at).padStart(43, 'k') })],
    ['capabilities', 200, () => agentCard(WORKER).capabilities[0]],
    ['endpoints', 50, () => agentCard(WORKER).endpoints[0]],
  ] as const)('%s of a Card are at most %i: one more is refused before any is looked at', (member, maximum, make) => {
    const [fits, exceeds] = [maximum, maximum + 1].map((length) => ({
      [member]: Array.from({ length }, (_, at) => make(at)),
    }));
    expect(world().outcome(register(agentCard(WORKER, fits)))).toBe('accepted');
    expect(world().decide(register(agentCard(WORKER, exceeds)))).toMatchObject({
      code: 'INVALID_COMMAND',
      message: `an Agent Card has at most ${maximum} ${member}`,
    });
  });
});
