import { describe, expect, it } from 'vitest';
import {
  activeMission,
  byCoordinator,
  byOwner,
  byWorker,
  COORDINATOR,
  GROUP,
  missionCreate,
  OTHER_HUMAN,
  OWNER,
  RIVAL,
  WORKER,
} from '../support/fixtures.ts';
import { contextPackage } from '../support/signed-documents.ts';
import type { World } from '../support/world.ts';
import { membershipKey } from '../../src/domain/aggregates.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';

const change = (payload: object = {}, envelope: object = {}) =>
  byCoordinator('membership.change', { principal: WORKER, roles: ['worker'], ...payload }, envelope);

function membershipOf(world: World, member: Principal = WORKER) {
  return world.view.mustGet('membership', membershipKey(GROUP, member));
}

describe('MWP-MSN-010a: membership.change', () => {
  it('admits a member with epoch 1, its roles, their scopes and a visibility start', () => {
    const given = activeMission();
    const [event, ...others] = given.accept(change({ roles: ['worker', 'reviewer'] }));
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'membership.changed',
      groupId: GROUP,
      sequence: 2,
      aggregateRevision: 1,
      payload: { principal: WORKER, membershipEpoch: 1 },
    });
    const { documents, ...membership } = membershipOf(given);
    expect(membership).toEqual({
      member: WORKER,
      groupId: GROUP,
      state: 'active',
      membershipEpoch: 1,
      visibilityStartSequence: 2,
    });
    expect(documents.map(({ role, scopes }) => [role, scopes])).toEqual([
      ['reviewer', ['role:reviewer']],
      ['worker', ['role:worker']],
    ]);
    for (const document of documents) expect(checkDocument('membership', document)).toMatchObject({ valid: true });
    expect(new Set(documents.map(({ membershipId }) => membershipId)).size).toBe(2);
  });

  it('each change raises the epoch, MWP-MSN-010b: and the former epoch is stale', () => {
    const given = activeMission();
    given.accept(change());
    const post = byWorker('message.post', {
      messageId: 'urn:test:message:1',
      conversationId: given.view.mustGet('group', GROUP).mainConversationId,
      content: 'Hello',
    });
    expect(given.outcome(post)).toBe('accepted');
    given.accept(change({ roles: ['reviewer'] }));
    expect(membershipOf(given).membershipEpoch).toBe(2);
    expect(given.outcome(post)).toBe('MEMBERSHIP_STALE');
    expect(given.outcome({ ...post, membershipEpoch: 2 })).toBe('accepted');
  });

  it('adds roles, or replaces them when asked to; what stays keeps its id and its scopes', () => {
    const given = activeMission();
    given.accept(change({ scopes: ['role:worker', 'topic:manual'] }));
    const before = membershipOf(given).documents[0];
    given.advance(5);
    given.accept(change({ roles: ['observer'] }));
    const { documents } = membershipOf(given);
    expect(documents.map(({ role }) => role)).toEqual(['observer', 'worker']);
    expect(documents[1]).toEqual({ ...before, membershipEpoch: 2 });
    given.accept(change({ roles: ['observer'], mode: 'replace', scopes: ['role:observer', 'read:all'] }));
    expect(membershipOf(given).documents).toMatchObject([
      { role: 'observer', scopes: ['role:observer', 'read:all'], membershipEpoch: 3 },
    ]);
  });

  it('MWP-EVT-007b: refuses a change that changes nothing, so of two equal admissions one succeeds', () => {
    const given = activeMission();
    given.accept(change());
    expect(given.outcome(change())).toBe('INVALID_STATE_TRANSITION');
    expect(given.outcome(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }))).toBe(
      'INVALID_STATE_TRANSITION',
    );
    expect(given.outcome(change({ scopes: ['role:other'] }))).toBe('accepted');
  });

  it('MWP-EVT-007a: compares expectedRevision with the epoch of the subject, 0 for an absent one', () => {
    const given = activeMission();
    expect(given.decide(change({}, { expectedRevision: 1 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: 1,
      currentRevision: 0,
    });
    given.accept(change({}, { expectedRevision: 0 }));
    expect(given.outcome(change({ roles: ['reviewer'] }, { expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(change({ roles: ['reviewer'] }, { expectedRevision: 1 }))).toBe('accepted');
  });

  it('refuses an Agent without a Card, and a service; takes a human', () => {
    const given = activeMission();
    const nobody = { type: 'agent', id: 'urn:test:agent:nobody' };
    expect(given.outcome(change({ principal: nobody }))).toBe('INVALID_COMMAND');
    expect(given.outcome(change({ principal: { type: 'service', id: 'urn:test:service' } }))).toBe('INVALID_COMMAND');
    expect(given.outcome(change({ principal: OTHER_HUMAN, roles: ['observer'] }))).toBe('accepted');
  });

  it('is for the MissionOwner, and for the Coordinator under its epoch and a live lease', () => {
    const given = activeMission();
    given.accept(change());
    expect(given.outcome(byOwner('membership.change', { principal: RIVAL, roles: ['worker'] }))).toBe('accepted');
    const byMember = byWorker('membership.change', { principal: RIVAL, roles: ['worker'] });
    expect(given.outcome(byMember)).toBe('AUTH_STALE_COORDINATOR');
    expect(given.outcome({ ...byMember, coordinatorEpoch: 1 })).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(change({ roles: ['observer'] }, { coordinatorEpoch: 2 }))).toBe('AUTH_STALE_COORDINATOR');
    given.advance(86_399.999);
    expect(given.outcome(change({ roles: ['observer'] }))).toBe('accepted');
    given.advance(0.001);
    expect(given.outcome(change({ roles: ['observer'] }))).toBe('AUTH_STALE_COORDINATOR');
  });

  it('tells a stranger nothing: neither that the Group exists nor who is in it', () => {
    const given = activeMission();
    const byStranger = byWorker('membership.change', { principal: RIVAL, roles: ['worker'] });
    const elsewhere = { ...byStranger, groupId: 'urn:test:group:none' };
    expect(given.decide(byStranger)).toEqual(given.decide(elsewhere));
    expect(given.outcome(byStranger)).toBe('GROUP_NOT_FOUND');
  });

  it('refuses roles that are none, and the same role twice', () => {
    const given = activeMission();
    for (const roles of [[], ['boss'], ['worker', 'worker']]) {
      expect(given.outcome(change({ roles }))).toBe('INVALID_COMMAND');
    }
  });
});

describe('membership.change of those who lead', () => {
  it('grants mission_owner and coordinator to nobody else', () => {
    const given = activeMission();
    for (const roles of [['mission_owner'], ['worker', 'coordinator']]) {
      expect(given.outcome(change({ roles }))).toBe('AUTH_FORBIDDEN');
    }
    expect(given.outcome(change({ principal: OWNER, roles: ['coordinator'] }))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(change({ principal: COORDINATOR, roles: ['mission_owner'] }))).toBe('AUTH_FORBIDDEN');
  });

  it.each([
    ['owner', OWNER, 'mission_owner'],
    ['Coordinator', COORDINATOR, 'coordinator'],
  ] as const)('MWP-MSN-010d: the %s keeps role, state and the whole history', (_, principal, role) => {
    const given = activeMission();
    const provisional = { provisional: true, provisionalExpiresAt: addSeconds(given.now, 60) };
    const refused = [
      { roles: ['reviewer'], mode: 'replace' },
      { roles: ['reviewer'], visibilityAfterSequence: 1 },
      { roles: ['reviewer'], ...provisional, contextPackageId: 'urn:test:context-package:1' },
    ];
    for (const payload of refused) {
      expect(given.outcome(change({ principal, ...payload }))).toBe('AUTH_FORBIDDEN');
    }
    given.accept(change({ principal, roles: ['reviewer'] }));
    expect(membershipOf(given, principal)).toMatchObject({
      state: 'active',
      membershipEpoch: 2,
      visibilityStartSequence: 1,
      documents: [{ role }, { role: 'reviewer' }],
    });
    const replace = change(
      { principal, roles: [role], mode: 'replace', visibilityAfterSequence: 0 },
      { membershipEpoch: membershipOf(given, COORDINATOR).membershipEpoch },
    );
    expect(given.outcome(replace)).toBe('accepted');
  });
});

describe('visibility', () => {
  it('MWP-MSN-012: a newcomer sees from its own admission on, or from what it is granted', () => {
    const given = activeMission();
    given.accept(change());
    given.accept(change({ principal: RIVAL, visibilityAfterSequence: 0 }));
    expect(membershipOf(given).visibilityStartSequence).toBe(2);
    expect(membershipOf(given, RIVAL).visibilityStartSequence).toBe(1);
  });

  it('a further role does not move it; only the Command can', () => {
    const given = activeMission();
    given.accept(change());
    given.accept(change({ roles: ['reviewer'] }));
    expect(membershipOf(given).visibilityStartSequence).toBe(2);
    given.accept(change({ visibilityAfterSequence: 2 }));
    expect(membershipOf(given).visibilityStartSequence).toBe(3);
  });

  it('refuses a start beyond the head, and takes the head', () => {
    const given = activeMission();
    expect(given.outcome(change({ visibilityAfterSequence: 2 }))).toBe('INVALID_COMMAND');
    expect(given.outcome(change({ visibilityAfterSequence: 1 }))).toBe('accepted');
  });

  it('whoever comes back after an end starts anew', () => {
    const given = activeMission();
    given.accept(change());
    given.accept(byOwner('membership.end', { principal: WORKER }));
    given.accept(change({ roles: ['observer'] }));
    expect(membershipOf(given)).toMatchObject({
      state: 'active',
      membershipEpoch: 3,
      visibilityStartSequence: 4,
      documents: [{ role: 'observer' }],
    });
  });
});

describe('MWP-MSN-011: provisional Membership', () => {
  const invite = (world: World, payload: object = {}) =>
    change({
      provisional: true,
      provisionalExpiresAt: addSeconds(world.now, 600),
      contextPackage: contextPackage(),
      ...payload,
    });

  it('has an end and a Context Package, which travels whole with its hash and leaves no text in the state', () => {
    const given = activeMission();
    const [event] = given.accept(invite(given));
    expect(event?.payload).toMatchObject({
      contextPackage: contextPackage(),
      contextPackageHash: canonicalHash(contextPackage()),
    });
    const [document] = membershipOf(given).documents;
    expect(document).toMatchObject({
      state: 'provisional',
      contextPackageId: contextPackage().contextPackageId,
      provisionalExpiresAt: addSeconds(given.now, 600),
    });
    expect(document).not.toHaveProperty('activatedAt');
    expect(checkDocument('membership', document)).toMatchObject({ valid: true });
    expect(JSON.stringify(given.view.all())).not.toContain('secret');
  });

  it('needs both, the end in the future, and only then', () => {
    const given = activeMission();
    const now = { provisionalExpiresAt: given.now };
    const soon = { provisionalExpiresAt: addSeconds(given.now, 0.001) };
    expect(given.outcome(invite(given, { provisionalExpiresAt: null }))).toBe('INVALID_COMMAND');
    expect(given.outcome(invite(given, { contextPackage: null }))).toBe('INVALID_COMMAND');
    expect(given.outcome(invite(given, now))).toBe('INVALID_COMMAND');
    expect(given.outcome(invite(given, soon))).toBe('accepted');
    expect(given.outcome(change(soon))).toBe('INVALID_COMMAND');
    const byId = { contextPackage: null, contextPackageId: 'urn:test:context-package:0' };
    expect(given.outcome(invite(given, byId))).toBe('accepted');
  });

  it('is shortened to the maximum of the policy', () => {
    const given = activeMission();
    given.policy.leases.provisionalMaximum = 60;
    given.accept(invite(given));
    expect(membershipOf(given).provisionalExpiresAt).toBe(addSeconds(given.now, 60));
  });

  it('may send nothing until it is active, and an active member is not made provisional again', () => {
    const given = activeMission();
    given.accept(invite(given));
    const end = byWorker('message.post', {
      messageId: 'urn:test:message:1',
      conversationId: given.view.mustGet('group', GROUP).mainConversationId,
      content: 'Hello',
    });
    expect(given.outcome(end)).toBe('MEMBERSHIP_REQUIRED');
    given.accept(change());
    expect(membershipOf(given).documents[0]).toMatchObject({ state: 'active', activatedAt: given.now });
    expect(membershipOf(given).provisionalExpiresAt).toBeUndefined();
    expect(given.outcome({ ...end, membershipEpoch: 2 })).toBe('accepted');
    expect(given.outcome(invite(given))).toBe('INVALID_STATE_TRANSITION');
  });

  it('counts as ended from its end on, so that the next admission starts anew', () => {
    const given = activeMission();
    given.accept(invite(given));
    given.accept(change({ principal: RIVAL }));
    const early = given.outcome(change({ roles: ['observer'] }));
    given.advance(600);
    given.accept(change({ roles: ['observer'] }));
    expect(early).toBe('accepted');
    expect(membershipOf(given)).toMatchObject({
      membershipEpoch: 2,
      visibilityStartSequence: 4,
      documents: [{ role: 'observer' }],
    });
  });

  it('T-10: refuses a Context Package of another Mission, of a limited member, or of Events that are not there', () => {
    const given = activeMission();
    given.accept(change({ principal: RIVAL }));
    const range = (fromSequence: number, toSequence: number) => ({
      sourceEventRange: { fromSequence, toSequence, eventIds: ['urn:test:event:1'] },
    });
    const outcome = (overrides: object) => given.outcome(invite(given, { contextPackage: contextPackage(overrides) }));
    expect(outcome({ missionId: 'urn:test:mission:2' })).toBe('INVALID_COMMAND');
    expect(outcome({ groupId: 'urn:test:group:2' })).toBe('INVALID_COMMAND');
    expect(outcome({ generatedBy: RIVAL })).toBe('AUTH_FORBIDDEN');
    expect(outcome({ generatedBy: { type: 'agent', id: 'urn:test:agent:nobody' } })).toBe('AUTH_FORBIDDEN');
    expect(outcome(range(1, 3))).toBe('INVALID_COMMAND');
    expect(outcome(range(2, 1))).toBe('INVALID_COMMAND');
    expect(outcome(range(1, 2))).toBe('accepted');
    given.accept(change({ principal: RIVAL, visibilityAfterSequence: 0 }));
    expect(outcome({ generatedBy: RIVAL })).toBe('accepted');
  });

  it('refuses a Context Package that contradicts the id beside it, and a misshapen one', () => {
    const given = activeMission();
    expect(given.outcome(invite(given, { contextPackageId: 'urn:test:context-package:0' }))).toBe('INVALID_COMMAND');
    expect(given.outcome(invite(given, { contextPackage: { generatedBy: 7 } }))).toBe('SCHEMA_VALIDATION_FAILED');
  });
});

describe('Groups do not mix', () => {
  it('the same Agent has a Membership and an epoch of its own in each', () => {
    const given = activeMission();
    const second = { missionId: 'urn:test:mission:2', groupId: 'urn:test:group:2' };
    given.accept(missionCreate({ payload: second, envelope: { groupId: second.groupId } }));
    given.accept(change());
    given.accept(change({ roles: ['observer'] }));
    given.accept({ ...change(), groupId: second.groupId });
    expect(membershipOf(given).membershipEpoch).toBe(2);
    const other = given.view.mustGet('membership', membershipKey(second.groupId, WORKER));
    expect(other).toMatchObject({ membershipEpoch: 1, visibilityStartSequence: 2 });
    expect(other.documents[0]).toMatchObject({ missionId: second.missionId });
  });
});
