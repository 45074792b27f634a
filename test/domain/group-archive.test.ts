import { describe, expect, it } from 'vitest';
import { judgeMembership } from '../../src/delivery/visibility.ts';
import { membershipKey, type MissionState } from '../../src/domain/aggregates.ts';
import { commandKindOf, executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import type { Accepted } from '../../src/domain/decider.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import {
  archive,
  ARCHIVE,
  archivedGroup,
  ARCHIVIST,
  DECIDED,
  endedMission,
  snapshotOf,
  takenSnapshot,
} from '../support/archival.ts';
import { CASES, SERVICE } from '../support/draft-of-each-kind.ts';
import {
  activeMission,
  byCoordinator,
  byOwner,
  COORDINATOR,
  GROUP,
  MISSION,
  OTHER_HUMAN,
  OWNER,
  STRANGER,
  WORKER,
} from '../support/fixtures.ts';
import { hashOf } from '../support/signed-documents.ts';
import type { World } from '../support/world.ts';

const membershipOf = (world: World, member: Principal) =>
  world.view.mustGet('membership', membershipKey(GROUP, member));

function readsAs(world: World, member: Principal): string {
  const standing = judgeMembership(world.view.get('group', GROUP), membershipOf(world, member), world.now);
  return isRefusal(standing) ? standing.code : standing.level;
}

describe('MWP-MSN-009b, MWP-EVT-005e: group_archive', () => {
  it('appends both Events next to each other; the second one is the receipt', () => {
    const given = endedMission();
    const snapshot = takenSnapshot(given);
    given.advance(1);
    const { primary } = given.decide(archive(snapshot)) as Accepted;
    const [created, archived, ...others] = given.accept(archive(snapshot));
    expect([primary, others]).toEqual([1, []]);
    expect(created).toMatchObject({
      kind: 'group.snapshot.created',
      sequence: snapshot.throughSequence + 1,
      aggregateRevision: 1,
      payload: {
        snapshotId: snapshot.snapshotId,
        throughSequence: snapshot.throughSequence,
        stateHash: snapshot.stateHash,
        snapshotHash: canonicalHash(snapshot),
      },
    });
    expect(archived).toMatchObject({
      kind: 'group.archived',
      sequence: snapshot.throughSequence + 2,
      aggregateRevision: 1,
      payload: { snapshotId: snapshot.snapshotId, archivedAt: given.now },
    });
    expect(given.view.get('group', GROUP)).toMatchObject({
      state: 'archived',
      archivedAt: given.now,
      archiveSnapshotId: snapshot.snapshotId,
    });
  });

  it('is what its Events say: a fold of them alone gives the same state', () => {
    const given = archivedGroup();
    const own = (view: World['view']) =>
      new Map(view.all().flatMap(({ kind, id, groupId, document }) => (groupId ? [[`${kind} ${id}`, document]] : [])));
    expect(own(given.replay())).toEqual(own(given.view));
  });

  it('ends every Membership, with a further epoch, and each goes on reading as before', () => {
    const given = endedMission();
    const before = [OWNER, COORDINATOR, WORKER].map((member) => readsAs(given, member));
    expect(before).toEqual(['full', 'full', 'limited']);
    const epochs = [OWNER, COORDINATOR, WORKER].map((member) => membershipOf(given, member).membershipEpoch);
    given.accept(archive(takenSnapshot(given)));
    [OWNER, COORDINATOR, WORKER].forEach((member, position) => {
      expect(membershipOf(given, member)).toMatchObject({
        state: 'ended',
        membershipEpoch: (epochs[position] as number) + 1,
      });
      expect(readsAs(given, member)).toBe(before[position]);
    });
  });

  it('MWP-MSN-011: who was invited reads no more than before, and nothing once the invitation had lapsed', () => {
    for (const [seconds, level, end] of [
      [3_539.999, 'provisional', undefined],
      [3_540, 'MEMBERSHIP_REQUIRED', undefined],
      // Spelled as the authority spells the time of the archival.
      [3_540, 'MEMBERSHIP_REQUIRED', '2026-11-29T13:00:00.000Z'],
      [7_200, 'MEMBERSHIP_REQUIRED', undefined],
    ] as const) {
      const given = endedMission(end);
      given.advance(seconds);
      given.accept(archive(takenSnapshot(given)));
      expect(readsAs(given, STRANGER)).toBe(level);
    }
  });

  it('gives nobody back what had ended before, though it was in the same millisecond', () => {
    const given = activeMission();
    given.policy.services.push({ serviceId: ARCHIVIST.id, kinds: [ARCHIVE], relay: false });
    given.accept(byCoordinator('membership.change', { principal: WORKER, roles: ['worker'] }));
    given.accept(byCoordinator('membership.end', { principal: WORKER }));
    given.accept(byOwner('mission.cancel', { reason: 'x' }));
    given.accept(archive(takenSnapshot(given)));
    expect(readsAs(given, WORKER)).toBe('MEMBERSHIP_REQUIRED');
    expect(readsAs(given, COORDINATOR)).toBe('full');
    expect(given.view.get('group', GROUP)?.archivedAt).toBe(addSeconds(given.now, 0.001));
  });

  it('MWP-SDV-018d: its policy entry names how many Commands were refused, and their records by number alone', () => {
    const given = endedMission();
    const snapshot = takenSnapshot(given);
    given.record.refusals = { count: 3, firstId: 17, lastId: 40 };
    expect((given.decide(archive(snapshot)) as Accepted).policyLog).toEqual([
      {
        groupId: GROUP,
        decision: 'the Group is archived',
        details: {
          rule: 'MWP-SDV-018d',
          snapshotId: snapshot.snapshotId,
          refusedCommands: { count: 3, firstId: 17, lastId: 40 },
        },
        draft: 1,
      },
    ]);
  });
});

describe('group_archive is refused', () => {
  it.each<MissionState>(['active', 'awaiting_approval'])('while the Mission is %s', (state) => {
    const given = endedMission();
    const mission = given.view.mustGet('mission', MISSION);
    const put = (to: MissionState) =>
      given.view.set('mission', MISSION, GROUP, { ...mission, mission: { ...mission.mission, state: to } });
    put(state);
    expect(given.decide(archive(takenSnapshot(given)))).toMatchObject({
      code: 'INVALID_STATE_TRANSITION',
      message: `the Mission is ${state}`,
    });
    for (const ended of ['approved', 'failed', 'cancelled'] as const) {
      put(ended);
      expect(given.outcome(archive(takenSnapshot(given)))).toBe('accepted');
    }
  });

  it('to who is no service, and to a service without the right, whether there is such a Group or not', () => {
    const given = endedMission();
    const snapshot = takenSnapshot(given);
    for (const groupId of [GROUP, 'urn:test:group:none']) {
      expect(given.outcome(archive(snapshot, { actor: SERVICE, groupId }))).toBe('AUTH_FORBIDDEN');
      expect(given.outcome(archive(snapshot, { actor: OTHER_HUMAN, groupId, membershipEpoch: 1 }))).toBe(
        'AUTH_FORBIDDEN',
      );
    }
    expect(given.outcome(archive(snapshot, { groupId: 'urn:test:group:none' }))).toBe('GROUP_NOT_FOUND');
  });

  it('a second time', () => {
    const given = archivedGroup();
    expect(given.decide(archive(snapshotOf(given)))).toMatchObject({
      code: 'INVALID_STATE_TRANSITION',
      message: 'the Group is archived',
    });
  });

  it('on a snapshot that somebody else signed', () => {
    const given = endedMission();
    const createdBy = { type: 'service', id: 'urn:test:service:other' };
    expect(given.outcome(archive(takenSnapshot(given, { createdBy })))).toBe('AUTH_FORBIDDEN');
  });

  it('on a snapshot of another Group', () => {
    const given = endedMission();
    expect(given.outcome(archive(takenSnapshot(given, { groupId: 'urn:test:group:2' })))).toBe('INVALID_COMMAND');
  });

  it.each([-1, 1])('on a snapshot that ends %i from the head of the Group', (by) => {
    const given = endedMission();
    const throughSequence = given.headOf(GROUP) + by;
    expect(given.decide(archive(takenSnapshot(given, { throughSequence })))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: throughSequence,
      currentRevision: given.headOf(GROUP),
    });
  });

  it('on a snapshot older than the last Event or newer than the Command', () => {
    const given = endedMission();
    const at = (createdAt: string) => given.outcome(archive(takenSnapshot(given, { createdAt })));
    const last = given.events.at(-1)?.occurredAt as string;
    expect(at(addSeconds(last, -0.001))).toBe('INVALID_COMMAND');
    expect(at(last)).toBe('accepted');
    expect(at(given.now)).toBe('accepted');
    expect(at(addSeconds(given.now, 0.001))).toBe('INVALID_COMMAND');
  });

  it('on a snapshot that was not taken here, or is not the latest one', () => {
    const given = endedMission();
    expect(given.outcome(archive(snapshotOf(given)))).toBe('INVALID_COMMAND');
    takenSnapshot(given);
    expect(given.outcome(archive(snapshotOf(given, { snapshotId: 'urn:test:snapshot:2' })))).toBe('INVALID_COMMAND');
  });

  it('when the stored state is another one than was signed', () => {
    const given = endedMission();
    const snapshot = takenSnapshot(given);
    const account = given.view.mustGet('budget_account', `mission ${MISSION}`);
    given.view.set('budget_account', account.accountId, GROUP, { ...account, limit: {} });
    expect(given.outcome(archive(snapshot))).toBe('INVALID_COMMAND');
    expect(given.outcome(archive(takenSnapshot(given, { stateHash: hashOf('0') })))).toBe('INVALID_COMMAND');
  });

  it('when the policy log is another one than was signed', () => {
    const given = endedMission();
    const snapshot = takenSnapshot(given);
    for (const record of [
      { policyLog: [] },
      { policyLog: [{ ...DECIDED, decision: 'another' }] },
      { policyLog: [DECIDED, DECIDED] },
      { policyPosition: 2 },
    ]) {
      takenSnapshot(given);
      Object.assign(given.record, record);
      expect(given.outcome(archive(snapshot))).toBe('INVALID_COMMAND');
    }
    takenSnapshot(given);
    expect(given.outcome(archive(snapshot))).toBe('accepted');
  });

  it('without a snapshot, or with more than one', () => {
    const given = endedMission();
    const payload = { snapshot: takenSnapshot(given) };
    expect(given.outcome(archive({}, { payload: {} }))).toBe('INVALID_COMMAND');
    expect(given.outcome(archive({}, { payload: { ...payload, other: payload.snapshot } }))).toBe('INVALID_COMMAND');
    expect(given.outcome(archive({ ...payload.snapshot, policyLog: [] }))).toBe('SCHEMA_VALIDATION_FAILED');
  });

  it('MWP-EVT-007a: under another revision of the Mission', () => {
    const given = endedMission();
    const snapshot = takenSnapshot(given);
    expect(given.outcome(archive(snapshot, { expectedRevision: 2 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(archive(snapshot, { expectedRevision: 1 }))).toBe('accepted');
  });
});

describe('an archived Group', () => {
  // What may be erased may be erased at any time: event-erase.test.ts.
  const writing = executedCommandKinds().filter(
    (kind) => commandKindOf(kind)?.group === 'existing' && kind !== EVENT_ERASE,
  );

  it.each(writing)('MWP-MSN-009b: takes no %s any more, from nobody who could have sent it before', (kind) => {
    const [worldOf, draftOf] = CASES[kind] as (typeof CASES)[string];
    const given = worldOf();
    given.policy.services = [{ serviceId: SERVICE.id, kinds: executedCommandKinds(), relay: false }];
    const draft = draftOf(given);
    expect(given.outcome(draft)).toBe('accepted');
    // As archival leaves it, whatever the state of the Mission was in which this kind is accepted.
    const payload = { snapshotId: 'urn:test:snapshot:1', archivedAt: given.now };
    given.fold({ kind: 'group.archived', groupId: GROUP, payload });
    expect(given.decide(draft)).toMatchObject({
      code: 'INVALID_STATE_TRANSITION',
      message: 'the Group is archived',
    });
    for (const actors of commandKindOf(kind)?.actors ?? []) {
      if (actors !== 'service') continue;
      const { sessionEpoch: _s, membershipEpoch: _m, coordinatorEpoch: _c, ...rest } = draft;
      expect(given.outcome({ ...rest, actor: SERVICE })).toBe('INVALID_STATE_TRANSITION');
    }
  });

  it('is there to no stranger, as before', () => {
    const given = archivedGroup();
    const draft = byOwner('work.cancel', { workItemId: 'urn:test:work:1', reason: 'x' });
    expect(given.outcome({ ...draft, actor: OTHER_HUMAN })).toBe('GROUP_NOT_FOUND');
  });
});
