// The visibility rules alone, where no Command can make the case yet: archives, restricted Conversations, equal times.
import { describe, expect, it } from 'vitest';
import {
  checkFull,
  judgeMembership,
  seesAccount,
  seesConversation,
  seesMessage,
  seesWorkItem,
  type Sight,
} from '../../src/delivery/visibility.ts';
import type {
  BudgetAccountAggregate,
  ConversationAggregate,
  GroupAggregate,
  MembershipAggregate,
  MembershipDocument,
  MessageAggregate,
  WorkItemAggregate,
} from '../../src/domain/aggregates.ts';

const AGENT = { type: 'agent', id: 'urn:test:agent:1' } as const;
const NOW = '2026-11-29T12:00:00.000Z';
const GROUP: GroupAggregate = {
  groupId: 'urn:test:group:1',
  missionId: 'urn:test:mission:1',
  state: 'active',
  mainConversationId: 'urn:test:conversation:1',
  createdAt: NOW,
};

function membership(more: Partial<MembershipAggregate> & { endedAt?: string } = {}): MembershipAggregate {
  const { endedAt, ...rest } = more;
  const shared = {
    groupId: GROUP.groupId,
    member: AGENT,
    state: 'active',
    membershipEpoch: 1,
    visibilityStartSequence: 1,
  } as const;
  const document: MembershipDocument = {
    ...shared,
    membershipId: 'urn:test:membership:1',
    missionId: GROUP.missionId,
    role: 'worker',
    scopes: ['role:worker'],
    grantedAt: NOW,
    ...(more.state !== 'provisional' && { activatedAt: NOW }),
    ...(endedAt !== undefined && { endedAt }),
  };
  return { ...shared, documents: [document], ...rest };
}

const sight = (more: Partial<Sight> = {}): Sight => ({
  level: 'full',
  principal: AGENT,
  roles: ['worker'],
  startSequence: 1,
  ...more,
});
const limited = sight({ level: 'limited', startSequence: 8, hiddenUntil: NOW });

describe('judging a Membership', () => {
  const judge = (group?: GroupAggregate, member?: MembershipAggregate) => {
    const standing = judgeMembership(group, member, NOW);
    return 'refused' in standing ? standing.code : standing.level;
  };

  it('MWP-EVT-009c: no Group and no Membership are the same refusal', () => {
    expect(judgeMembership(undefined, undefined, NOW)).toEqual(judgeMembership(GROUP, undefined, NOW));
    expect(judge()).toBe('GROUP_NOT_FOUND');
  });

  it('MWP-MSN-010: active from the first sequence is full, from a later one limited', () => {
    expect([0, 1, 2].map((visibilityStartSequence) => judge(GROUP, membership({ visibilityStartSequence })))).toEqual([
      'full',
      'full',
      'limited',
    ]);
  });

  it('MWP-MSN-011: provisional counts until just before its end', () => {
    const until = (provisionalExpiresAt: string) => membership({ state: 'provisional', provisionalExpiresAt });
    expect(judge(GROUP, until('2026-11-29T12:00:00.001Z'))).toBe('provisional');
    expect(judge(GROUP, until(NOW))).toBe('MEMBERSHIP_REQUIRED');
  });

  it('MWP-MSN-009b: what archival ended keeps its read access, what had ended before does not', () => {
    const archived: GroupAggregate = { ...GROUP, state: 'archived', archivedAt: NOW };
    expect(judge(GROUP, membership({ state: 'ended', endedAt: NOW }))).toBe('MEMBERSHIP_REQUIRED');
    expect(judge(archived, membership({ state: 'ended', endedAt: NOW }))).toBe('full');
    expect(judge(archived, membership({ state: 'ended', endedAt: NOW, visibilityStartSequence: 5 }))).toBe('limited');
    expect(judge(archived, membership({ state: 'ended', endedAt: '2026-11-29T11:00:00.000Z' }))).toBe(
      'MEMBERSHIP_REQUIRED',
    );
  });
});

describe('restricted Conversations', () => {
  const conversation = (members = [{ type: 'human', id: 'urn:test:human:1' } as const]) =>
    ({
      type: 'restricted',
      access: { mode: 'restricted', members },
      createdAt: NOW,
    }) as unknown as ConversationAggregate;

  it('MWP-MSN-015b: members of it, Coordinator and MissionOwner read them; other full members do not', () => {
    const sees = (reader: Sight, shown = conversation()) => seesConversation(reader, shown, undefined);
    expect(sees(sight())).toBe(false);
    expect(sees(sight({ roles: ['coordinator'] }))).toBe(true);
    expect(sees(sight({ roles: ['mission_owner'] }))).toBe(true);
    expect(sees(sight({ principal: { type: 'human', id: 'urn:test:human:1' } }))).toBe(true);
    expect(sees(sight({ principal: { type: 'agent', id: 'urn:test:human:1' } }))).toBe(false);
    expect(sees(sight({ level: 'provisional', roles: ['coordinator'] }))).toBe(false);
  });
});

describe('limited visibility', () => {
  const item = (createdAt: string) =>
    ({ workItem: { createdAt, createdBy: { type: 'agent', id: 'urn:test:agent:2' } } }) as unknown as WorkItemAggregate;
  const message = (committedAt: string) => ({ committedAt }) as MessageAggregate;

  it('MWP-MSN-012: what stands in the same millisecond as the last hidden Event stays hidden', () => {
    for (const sees of [
      (at: string) => seesWorkItem(limited, item(at)),
      (at: string) => seesMessage(limited, message(at)),
    ]) {
      expect([NOW, '2026-11-29T12:00:00.001Z'].map(sees)).toEqual([false, true]);
    }
  });

  it('without a known start nothing is young enough', () => {
    const { hiddenUntil: _unknown, ...unknown } = limited;
    expect(seesWorkItem(unknown, item('2999-01-01T00:00:00Z'))).toBe(false);
  });

  it("the Mission's own account is for full members", () => {
    const account = { owner: { type: 'mission', id: 'urn:test:mission:1' } } as BudgetAccountAggregate;
    expect([sight(), limited].map((reader) => seesAccount(reader, account, undefined))).toEqual([true, false]);
  });

  it('the policy log and the state document need full visibility', () => {
    const codes = [sight(), limited, sight({ level: 'provisional' })].map((reader) => checkFull(reader)?.code);
    expect(codes).toEqual([undefined, 'MEMBERSHIP_REQUIRED', 'MEMBERSHIP_REQUIRED']);
  });
});
