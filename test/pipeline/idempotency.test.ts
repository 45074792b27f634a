// One transition per signed Command, whatever is repeated, raced, re-signed or sent again much later.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AcceptedSubmission, Receipt } from '../../src/authority/ports.ts';
import { generateActorKey } from '../../src/worker/keys.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('MWP-EVT-003: idempotency on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let mission: Mission;
  let time = Date.parse('2026-11-29T12:00:00.000Z');
  const clock = () => time;

  beforeEach(async () => {
    opened = await open({ clock });
    tenant = await Tenant.create(opened.store, { clock });
    mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
  });

  afterEach(async () => {
    await tenant.expectReplayEquivalence();
    expect(tenant.alarms).toEqual([]);
    await opened.close();
  });

  const message = (text: string, actionId = id()) => {
    const payload = { messageId: id(), content: text };
    return mission.draft('message.post', payload, { actionId });
  };

  async function withConversation(draft: ReturnType<typeof message>) {
    const conversations = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.page({ kind: 'conversation', groupId: mission.groupId, limit: 1 }),
    );
    return { ...draft, conversationId: conversations[0]?.id ?? '' };
  }

  async function events(): Promise<number> {
    const head = await tenant.store.read(tenant.organization.organizationId, (reader) =>
      reader.stream(mission.groupId),
    );
    return head?.position ?? 0;
  }

  it('MWP-EVT-003a: a byte-identical Command answers the same receipt bytes and appends nothing', async () => {
    const bytes = tenant.sign(mission.owner, await withConversation(message('once')), mission.epochsOf(mission.owner));
    const first = (await tenant.submitBytes(bytes, mission.owner.principal)) as AcceptedSubmission;
    const before = await events();
    const second = (await tenant.submitBytes(bytes, mission.owner.principal)) as AcceptedSubmission;
    expect(first.accepted).toBe(true);
    expect(second).toEqual({ ...first, duplicate: true });
    expect(await events()).toBe(before);
  });

  it('MWP-EVT-003a: also when freshness has run out, and after the session was replaced', async () => {
    const draft = await withConversation(message('late'));
    const bytes = tenant.sign(mission.coordinator, draft, mission.epochsOf(mission.coordinator));
    const first = (await tenant.submitBytes(bytes, mission.coordinator.principal)) as AcceptedSubmission;
    await tenant.openSession(mission.coordinator);
    time += 3_600_000;
    const late = (await tenant.submitBytes(bytes, mission.coordinator.principal)) as AcceptedSubmission;
    expect(late.receipt).toBe(first.receipt);
    expect(late.duplicate).toBe(true);
  });

  it('MWP-ADM-013: a new Command outside the freshness window is refused on both sides of it', async () => {
    const { behindSeconds, aheadSeconds } = (
      await tenant.store.organizations.policy(tenant.organization.organizationId)
    ).freshness;
    const send = async (shift: number) => {
      const draft = await withConversation(message('shifted'));
      const signed = signCommand(mission.owner, draft, mission.epochsOf(mission.owner), time + shift);
      const answer = await tenant.submitBytes(signed.bytes, mission.owner.principal);
      return answer.accepted ? 'accepted' : answer.refusal.code;
    };
    expect(await send(-behindSeconds * 1000 - 1)).toBe('AUTH_INVALID_SIGNATURE');
    expect(await send(-behindSeconds * 1000)).toBe('accepted');
    expect(await send(aheadSeconds * 1000)).toBe('accepted');
    expect(await send(aheadSeconds * 1000 + 1)).toBe('AUTH_INVALID_SIGNATURE');
  });

  it('MWP-EVT-003a, MWP-FND-018: twenty identical Commands at once give one transition and twenty equal receipts', async () => {
    const bytes = tenant.sign(mission.owner, await withConversation(message('race')), mission.epochsOf(mission.owner));
    const before = await events();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tenant.submitBytes(bytes, mission.owner.principal)),
    );
    expect(new Set(answers.map((answer) => (answer.accepted ? answer.receipt : answer.refusal.code))).size).toBe(1);
    expect(answers.filter((answer) => answer.accepted && !answer.duplicate)).toHaveLength(1);
    expect(await events()).toBe(before + 1);
  });

  it('twenty identical creations of one Mission at once give one Group', async () => {
    const other = Mission.draft(tenant, mission.owner, mission.coordinator);
    const bytes = tenant.sign(mission.owner, other.creation());
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tenant.submitBytes(bytes, mission.owner.principal)),
    );
    expect(new Set(answers.map((answer) => (answer.accepted ? answer.receipt : answer.refusal.code))).size).toBe(1);
    expect(answers.filter((answer) => answer.accepted && !answer.duplicate)).toHaveLength(1);
  });

  it('MWP-EVT-003b, E-ACTION_ID_COLLISION: the same Action ID with other content is refused and changes nothing', async () => {
    const actionId = id();
    const epochs = mission.epochsOf(mission.owner);
    await tenant.accept(mission.owner, await withConversation(message('one', actionId)), epochs);
    const before = await events();
    const collision = await withConversation(message('two', actionId));
    expect(await tenant.outcome(mission.owner, collision, epochs)).toBe('ACTION_ID_COLLISION');
    expect(await events()).toBe(before);
  });

  it('MWP-EVT-003b: the same Action ID of another actor is independent', async () => {
    const actionId = id();
    await tenant.accept(
      mission.owner,
      await withConversation(message('one', actionId)),
      mission.epochsOf(mission.owner),
    );
    const draft = await withConversation(message('two', actionId));
    const outcome = await tenant.outcome(mission.coordinator, draft, mission.epochsOf(mission.coordinator));
    expect(outcome).toBe('accepted');
  });

  it('one Action ID sent to two Groups at once is accepted in one of them only', async () => {
    const second = await Mission.create(tenant, mission.owner, mission.coordinator);
    const actionId = id();
    const invite = (to: Mission, name: string) => ({
      ...to.draft('mission.renew_coordinator', { leaseSeconds: 86_400 }, { actionId }),
      correlationId: `urn:test:${name}`,
    });
    time += 1_000;
    const outcomes = await Promise.all([
      tenant.outcome(mission.coordinator, invite(mission, 'a'), mission.epochsOf(mission.coordinator)),
      tenant.outcome(mission.coordinator, invite(second, 'b'), second.epochsOf(mission.coordinator)),
    ]);
    expect(outcomes.sort()).toEqual(['ACTION_ID_COLLISION', 'accepted']);
  });

  it('T-8: a refused Command leaves its Action ID usable', async () => {
    const actionId = id();
    const payload = { messageId: id(), conversationId: 'urn:test:nowhere', content: 'lost' };
    expect(await mission.outcome(mission.owner, 'message.post', payload, { actionId })).toBe('MEMBERSHIP_REQUIRED');
    const draft = await withConversation(message('found', actionId));
    expect(await tenant.outcome(mission.owner, draft, mission.epochsOf(mission.owner))).toBe('accepted');
  });

  it('MWP-ADM-004b: the same content signed by another key of the same actor is no retry', async () => {
    const second = generateActorKey(mission.owner.principal);
    await tenant.store.organizations.changeRegistry(tenant.organization.organizationId, {
      bindings: [
        {
          keyId: second.keyId,
          principal: second.principal,
          algorithm: 'Ed25519',
          publicKey: second.publicKey,
          validFrom: '2020-01-01T00:00:00Z',
        },
      ],
    });
    const draft = await withConversation(message('twice signed'));
    const salted = { ...draft, payload: { ...draft.payload, contentSalt: 'the-same-salt-twice' }, correlationId: id() };
    const epochs = mission.epochsOf(mission.owner);
    expect(await tenant.outcome(mission.owner, salted, epochs)).toBe('accepted');
    expect(await tenant.outcome(second, salted, epochs)).toBe('AUTH_INVALID_SIGNATURE');
    expect(await tenant.outcome(mission.owner, salted, epochs)).toBe('accepted');
  });

  it('the receipt names what was appended, and nothing of the content', async () => {
    const draft = await withConversation(message('a secret nobody repeats'));
    const answer = await tenant.submit(mission.owner, draft, mission.epochsOf(mission.owner));
    if (!answer.accepted) throw new Error(answer.refusal.code);
    const receipt = JSON.parse(answer.receipt) as Receipt;
    expect(answer.receipt).not.toContain('secret');
    expect(answer.events).toHaveLength(1);
    const [event] = answer.events.map((body) => JSON.parse(body) as { eventId: string; sequence: number });
    expect(receipt).toMatchObject({
      actor: mission.owner.principal,
      kind: 'message.post',
      primaryEventId: event?.eventId,
      events: [{ eventId: event?.eventId, groupId: mission.groupId, sequence: event?.sequence }],
      groups: [{ groupId: mission.groupId, groupRevision: 2, headSequence: event?.sequence }],
    });
  });
});
