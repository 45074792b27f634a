import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
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
import type { CommandDraft, World } from '../support/world.ts';

const SAID = 'urn:test:message:said';

function world(): World {
  const fresh = activeMission();
  for (const principal of [WORKER, RIVAL]) {
    fresh.accept(byOwner('membership.change', { principal, roles: ['worker'] }));
  }
  const conversationId = mainOf(fresh);
  fresh.accept(byWorker('message.post', { messageId: SAID, conversationId, content: 'the first secret' }));
  return fresh;
}

function mainOf(given: World): string {
  return given.view.mustGet('group', GROUP).mainConversationId;
}

let amended = 0;

const KINDS = [
  {
    kind: 'message.correct',
    event: 'message.corrected',
    as: 'correction',
    more: { replacementContent: 'a third one' },
  },
  { kind: 'message.retract', event: 'message.retracted', as: 'retraction', more: {} },
] as const;

describe.each(KINDS)('$kind', ({ kind, event: eventKind, as, more }) => {
  function amend(payload: object = {}, envelope: object = {}): CommandDraft {
    const amendmentId = `urn:test:amendment:${++amended}`;
    return byWorker(kind, { amendmentId, messageId: SAID, reason: 'a second one', ...more, ...payload }, envelope);
  }

  it('MWP-MSN-023, MWP-FND-013c: appends a Message that cites the original, which stays as it was', () => {
    const given = world();
    const original = structuredClone(given.view.mustGet('message', SAID));
    const [event, ...others] = given.accept(amend({ amendmentId: 'urn:test:amendment' }));
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: eventKind,
      groupId: GROUP,
      conversationId: mainOf(given),
      aggregateRevision: 2,
    });
    const { amendment } = event?.payload as { amendment: object };
    expect(amendment).toMatchObject({
      messageId: 'urn:test:amendment',
      kind: as,
      author: WORKER,
      authority: false,
      targetMessageId: SAID,
      reason: 'a second one',
      content: [{ type: 'text', text: 'replacementContent' in more ? more.replacementContent : 'a second one' }],
    });
    expect(checkDocument('message', amendment)).toMatchObject({ valid: true });
    expect(given.view.mustGet('message', SAID)).toEqual(original);
    expect(given.view.get('message', 'urn:test:amendment')).toMatchObject({ kind: as, targetMessageId: SAID });
    expect(given.view.mustGet('conversation', mainOf(given)).revision).toBe(2);
    const state = JSON.stringify(given.view.all());
    for (const text of ['secret', 'a second one', 'a third one']) expect(state).not.toContain(text);
  });

  it('needs a reason', () => {
    const given = world();
    for (const reason of [undefined, '', 'x'.repeat(4_001)])
      expect(given.outcome(amend({ reason }))).toBe('INVALID_COMMAND');
    expect(given.outcome(amend({ reason: 'x'.repeat(4_000) }))).toBe('accepted');
  });

  it('is for the author alone: neither MissionOwner nor Coordinator puts words into another mouth', () => {
    const given = world();
    const { payload } = amend();
    expect(given.outcome(byOwner(kind, payload))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(byCoordinator(kind, payload))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(amend({}, { actor: RIVAL }))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(byOwner(kind, payload, { actor: OTHER_HUMAN }))).toBe('GROUP_NOT_FOUND');
    expect(given.outcome(amend())).toBe('accepted');
  });

  it('refuses a Message that is not there, and one of another Group in the same words', () => {
    const given = world();
    const second = { missionId: 'urn:test:mission:2', groupId: 'urn:test:group:2' };
    given.accept(missionCreate({ payload: second, envelope: { groupId: second.groupId } }));
    const conversationId = given.view.mustGet('group', second.groupId).mainConversationId;
    const elsewhere = { messageId: 'urn:test:message:elsewhere', conversationId, content: 'x' };
    given.accept(byOwner('message.post', elsewhere, { groupId: second.groupId }));
    const ofOwner = (messageId: string) => given.decide(byOwner(kind, amend({ messageId }).payload));
    expect(ofOwner('urn:test:message:none')).toMatchObject({ code: 'INVALID_COMMAND' });
    expect(ofOwner(elsewhere.messageId)).toEqual(ofOwner('urn:test:message:none'));
  });

  it('takes any number of amendments of the original, and none of an amendment', () => {
    const given = world();
    given.accept(amend({ amendmentId: 'urn:test:amendment' }));
    expect(given.outcome(amend())).toBe('accepted');
    expect(given.outcome(amend({ messageId: 'urn:test:amendment' }))).toBe('INVALID_COMMAND');
  });

  it('refuses an id that any Message has, the original included', () => {
    const given = world();
    given.accept(amend({ amendmentId: 'urn:test:amendment' }));
    expect(given.outcome(amend({ amendmentId: 'urn:test:amendment' }))).toBe('INVALID_STATE_TRANSITION');
    expect(given.outcome(amend({ amendmentId: SAID }))).toBe('INVALID_STATE_TRANSITION');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Conversation', () => {
    const given = world();
    expect(given.decide(amend({}, { expectedRevision: 0 }))).toMatchObject({
      code: 'REVISION_CONFLICT',
      expectedRevision: 0,
      currentRevision: 1,
    });
    expect(given.outcome(amend({}, { expectedRevision: 1 }))).toBe('accepted');
  });

  it('licenses nothing: no WorkItem, no lease and no Mission changes', () => {
    const given = world();
    const rest = () => given.view.all().filter(({ kind }) => kind !== 'message' && kind !== 'conversation');
    const before = structuredClone(rest());
    given.accept(amend());
    expect(rest()).toEqual(before);
  });

  it('ends with the Mission', () => {
    const given = world();
    given.accept(byOwner('mission.cancel', { reason: 'No longer needed' }));
    expect(given.outcome(amend())).toBe('INVALID_STATE_TRANSITION');
  });
});

describe('message.correct', () => {
  it('needs content, within the bounds of a Message', () => {
    const given = world();
    const correct = (replacementContent: unknown) =>
      given.outcome(
        byWorker('message.correct', {
          amendmentId: `urn:test:amendment:${++amended}`,
          messageId: SAID,
          reason: 'x',
          replacementContent,
        }),
      );
    const data = (length: number) => [{ type: 'data_ref', schema: 'urn:test:schema', data: 'x'.repeat(length) }];
    for (const content of [
      undefined,
      '',
      [],
      'x'.repeat(100_001),
      data(65_535),
      Array(101).fill({ type: 'text', text: 'x' }),
    ])
      expect(correct(content)).toBe('INVALID_COMMAND');
    expect(correct(data(65_534))).toBe('accepted');
  });

  it('keeps mentions and references of the original out: who was mentioned once is not called again', () => {
    const given = world();
    const payload = { amendmentId: 'urn:test:a', messageId: SAID, reason: 'x', replacementContent: 'y' };
    expect(given.outcome(byWorker('message.correct', { ...payload, mentions: [OWNER] }))).toBe('INVALID_COMMAND');
    expect(given.accept(byWorker('message.correct', payload))[0]?.payload['amendment']).not.toHaveProperty('mentions');
  });
});
