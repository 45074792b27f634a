import { describe, expect, it } from 'vitest';
import {
  activeMission,
  byCoordinator,
  byOwner,
  byWorker,
  GROUP,
  missionCreate,
  OTHER_HUMAN,
  OWNER,
  RIVAL,
  WORKER,
} from '../support/fixtures.ts';
import { hashOf } from '../support/signed-documents.ts';
import type { CommandDraft, World } from '../support/world.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';

const RESTRICTED = 'urn:test:conversation:restricted';

function world(): World {
  const fresh = activeMission();
  for (const principal of [WORKER, RIVAL]) {
    fresh.accept(byOwner('membership.change', { principal, roles: ['worker'] }));
  }
  return fresh;
}

function mainOf(given: World): string {
  return given.view.mustGet('group', GROUP).mainConversationId;
}

let posted = 0;

function post(given: World, payload: object = {}, envelope: object = {}): CommandDraft {
  const message = { messageId: `urn:test:message:${++posted}`, conversationId: mainOf(given), content: 'Hello' };
  return byWorker('message.post', { ...message, ...payload }, envelope);
}

describe('message.post', () => {
  it('commits one Message without authority, MWP-MSN-017: and its Conversation is one revision on', () => {
    const given = world();
    const content = [
      { type: 'text', text: 'See the plan' },
      { type: 'artifact_ref', artifactHash: hashOf('a') },
      { type: 'data_ref', schema: 'https://schemas.example/plan', data: { steps: ['secret'] } },
    ];
    const [event, ...others] = given.accept(
      post(given, { content, mentions: [OWNER], references: ['urn:test:event:1'], announcement: true }),
    );
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'message.posted',
      groupId: GROUP,
      conversationId: mainOf(given),
      aggregateRevision: 1,
      payload: { announcement: true, message: { author: WORKER, authority: false, kind: 'message', content } },
    });
    expect(event?.payload['message']).toMatchObject({ mentions: [OWNER], references: ['urn:test:event:1'] });
    expect(checkDocument('message', event?.payload['message'])).toMatchObject({ valid: true });
    expect(given.view.get('conversation', mainOf(given))?.revision).toBe(1);
    const state = JSON.stringify(given.view.all());
    expect(state).not.toContain('See the plan');
    expect(state).not.toContain('secret');
  });

  it('takes a plain string as one text part, and the Conversation from the envelope', () => {
    const given = world();
    const sparse = { conversationId: null, mentions: null, references: [] };
    const [event] = given.accept(post(given, sparse, { conversationId: mainOf(given) }));
    expect(event?.payload).toMatchObject({ message: { content: [{ type: 'text', text: 'Hello' }] } });
    expect(event?.payload['message']).not.toHaveProperty('references');
  });

  it('MWP-MSN-018, MWP-FND-002a: any active member may, unprompted; who is none may not', () => {
    const given = world();
    given.accept(byOwner('membership.change', { principal: OTHER_HUMAN, roles: ['observer'] }));
    const { payload } = post(given);
    expect(given.outcome(post(given))).toBe('accepted');
    expect(given.outcome(byOwner('message.post', payload))).toBe('accepted');
    expect(given.outcome(byOwner('message.post', payload, { actor: OTHER_HUMAN }))).toBe('accepted');
    expect(given.outcome(byCoordinator('message.post', payload))).toBe('accepted');
    const stranger: Principal = { type: 'agent', id: 'urn:test:agent:stranger' };
    expect(given.outcome(post(given, {}, { actor: stranger }))).toBe('GROUP_NOT_FOUND');
  });

  it('MWP-FND-002b, MWP-MSN-003a: changes no WorkItem, no lease and no Mission, whatever it says', () => {
    const given = world();
    const rest = () => given.view.all().filter(({ kind }) => kind !== 'message' && kind !== 'conversation');
    const before = rest();
    given.accept(post(given, { content: 'Deploy now. I recommend to cancel the Mission.' }));
    expect(rest()).toEqual(before);
  });

  it('MWP-MSN-017: refuses authority true, MWP-MSN-016b: and data too large to stand inline', () => {
    const given = world();
    expect(given.outcome(post(given, { authority: true }))).toBe('INVALID_COMMAND');
    expect(given.outcome(post(given, { authority: false }))).toBe('accepted');
    const data = (length: number) => ({
      content: [{ type: 'data_ref', schema: 'https://schemas.example/plan', data: 'x'.repeat(length) }],
    });
    expect(given.outcome(post(given, data(65_535)))).toBe('INVALID_COMMAND');
    expect(given.outcome(post(given, data(65_534)))).toBe('accepted');
    const text = (length: number) => ({ content: [{ type: 'text', text: 'x'.repeat(length) }] });
    expect(given.outcome(post(given, text(100_001)))).toBe('INVALID_COMMAND');
    expect(given.outcome(post(given, text(100_000)))).toBe('accepted');
    expect(given.outcome(post(given, { content: [] }))).toBe('INVALID_COMMAND');
  });

  it('refuses more mentions or references than 200, and any of them twice', () => {
    const given = world();
    const mentions = Array.from({ length: 201 }, (_, n) => ({ type: 'agent', id: `urn:test:agent:${n}` }));
    const references = mentions.map(({ id }) => id);
    expect(given.outcome(post(given, { mentions }))).toBe('INVALID_COMMAND');
    expect(given.outcome(post(given, { references }))).toBe('INVALID_COMMAND');
    expect(given.outcome(post(given, { mentions: [OWNER, OWNER] }))).toBe('INVALID_COMMAND');
    const most = { mentions: mentions.slice(1), references: references.slice(1) };
    expect(given.outcome(post(given, most))).toBe('accepted');
  });

  it('refuses a Message id that was used, MWP-FND-013c: so a Message is never replaced', () => {
    const given = world();
    const command = post(given);
    given.accept(command);
    expect(given.outcome(command)).toBe('INVALID_STATE_TRANSITION');
  });

  it('needs a Conversation, the same one in envelope and payload', () => {
    const given = world();
    expect(given.outcome(post(given, { conversationId: null }))).toBe('INVALID_COMMAND');
    expect(given.outcome(post(given, {}, { conversationId: RESTRICTED }))).toBe('INVALID_COMMAND');
  });

  it('MWP-MSN-015b: a restricted Conversation is as unknown to outsiders as one that does not exist', () => {
    const given = world();
    restrict(given, [WORKER]);
    const second = { missionId: 'urn:test:mission:2', groupId: 'urn:test:group:2' };
    given.accept(missionCreate({ payload: second, envelope: { groupId: second.groupId } }));
    const elsewhere = given.view.mustGet('group', second.groupId).mainConversationId;
    const asRival = (conversationId: string, envelope: object = {}) =>
      given.decide(post(given, { conversationId }, { actor: RIVAL, ...envelope }));
    expect(asRival(RESTRICTED)).toMatchObject({ code: 'MEMBERSHIP_REQUIRED' });
    expect(asRival('urn:test:conversation:none')).toEqual(asRival(RESTRICTED));
    expect(asRival(elsewhere)).toEqual(asRival(RESTRICTED));
    // Nor does its revision tell: a wrong guess answers the same.
    expect(asRival(RESTRICTED, { expectedRevision: 7 })).toEqual(asRival(RESTRICTED));
  });

  it('MWP-MSN-015b: its members, the Coordinator and the MissionOwner write to it', () => {
    const given = world();
    restrict(given, [WORKER]);
    const { payload } = post(given, { conversationId: RESTRICTED });
    expect(given.outcome(byWorker('message.post', payload))).toBe('accepted');
    expect(given.outcome(byCoordinator('message.post', payload))).toBe('accepted');
    expect(given.outcome(byOwner('message.post', payload))).toBe('accepted');
  });

  it('refuses a closed Conversation', () => {
    const given = world();
    const conversation = given.view.mustGet('conversation', mainOf(given));
    given.view.set('conversation', mainOf(given), GROUP, { ...conversation, state: 'closed' });
    expect(given.outcome(post(given))).toBe('INVALID_STATE_TRANSITION');
  });

  it('names the WorkItem in the envelope when the Conversation is that of one', () => {
    const given = world();
    const conversation = given.view.mustGet('conversation', mainOf(given));
    const own = { type: 'work_item', primaryWorkItemId: 'urn:test:work:1' } as const;
    given.view.set('conversation', mainOf(given), GROUP, { ...conversation, ...own });
    expect(given.accept(post(given))[0]).toMatchObject({ workItemId: 'urn:test:work:1' });
  });

  it('MWP-EVT-007a: compares expectedRevision with the Conversation', () => {
    const given = world();
    expect(given.decide(post(given, {}, { expectedRevision: 1 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: 1,
      currentRevision: 0,
    });
    expect(given.outcome(post(given, {}, { expectedRevision: 0 }))).toBe('accepted');
  });
});

describe('the message rate', () => {
  it('RATE_LIMITED with the time until the oldest of the minute is over, and exactly then no longer', () => {
    const given = world();
    given.policy.limits.messagesPerMinute = 2;
    given.accept(post(given));
    given.advance(10);
    given.accept(post(given));
    given.advance(20);
    expect(given.decide(post(given))).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 30_000,
      details: { limit: 'message_rate' },
    });
    given.advance(29.999);
    expect(given.decide(post(given))).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 1 });
    given.advance(0.001);
    expect(given.outcome(post(given))).toBe('accepted');
  });

  it('counts each member for itself', () => {
    const given = world();
    given.policy.limits.messagesPerMinute = 1;
    given.accept(post(given));
    expect(given.outcome(post(given))).toBe('RATE_LIMITED');
    expect(given.outcome(post(given, {}, { actor: RIVAL }))).toBe('accepted');
  });
});

function restrict(given: World, members: Principal[]): void {
  const conversation = given.view.mustGet('conversation', mainOf(given));
  given.view.set('conversation', RESTRICTED, GROUP, {
    ...conversation,
    conversationId: RESTRICTED,
    type: 'restricted',
    access: { mode: 'restricted', members },
  });
}
