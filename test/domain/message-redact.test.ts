import { describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { RENDITION_EXTENSION } from '../../src/protocol/documents/rendition.ts';
import type { Accepted } from '../../src/domain/decider.ts';
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
import type { World } from '../support/world.ts';

const SAID = 'urn:test:message:said';

function world(): World {
  const fresh = activeMission();
  for (const principal of [WORKER, RIVAL]) {
    fresh.accept(byOwner('membership.change', { principal, roles: ['worker'] }));
  }
  const conversationId = fresh.view.mustGet('group', GROUP).mainConversationId;
  fresh.accept(byWorker('message.post', { messageId: SAID, conversationId, content: 'the first secret' }));
  return fresh;
}

let amended = 0;
const redaction = (more: object = {}) => ({
  amendmentId: `urn:test:redaction:${++amended}`,
  messageId: SAID,
  reason: 'it names a customer',
  ...more,
});
const byOwnerNow = (more: object = {}, envelope: object = {}) => byOwner('message.redact', redaction(more), envelope);

describe('message.redact', () => {
  it('MWP-MSN-023: appends a Message that cites the original, which keeps all that it said', () => {
    const given = world();
    const original = structuredClone(given.view.mustGet('message', SAID));
    const [event, ...others] = given.accept(byOwnerNow({ amendmentId: 'urn:test:redaction' }));
    expect(others).toEqual([]);
    expect(event).toMatchObject({ kind: 'message.redacted', groupId: GROUP, aggregateRevision: 2, actor: OWNER });
    const { amendment } = event?.payload as { amendment: object };
    expect(amendment).toMatchObject({
      messageId: 'urn:test:redaction',
      kind: 'redaction',
      author: OWNER,
      targetMessageId: SAID,
      reason: 'it names a customer',
    });
    expect(checkDocument('message', amendment)).toMatchObject({ valid: true });
    const redacted = { amendmentId: 'urn:test:redaction', redactedBy: OWNER, redactedAt: given.now };
    expect(given.view.mustGet('message', SAID)).toEqual({ ...original, redaction: redacted });
    expect(JSON.stringify(given.view.all())).not.toMatch(/secret|customer/);
  });

  it('withholds the Message, and its entry in the policy log names ids and no text', () => {
    const given = world();
    const decision = given.decide(byOwnerNow({ amendmentId: 'urn:test:redaction' })) as Accepted;
    expect(decision.withholds).toMatchObject({ cause: 'redacted', draft: 0, message: { messageId: SAID } });
    expect(decision.policyLog).toEqual([
      {
        groupId: GROUP,
        decision: 'a Message is redacted',
        details: { rule: 'MWP-MSN-023', messageId: SAID, amendmentId: 'urn:test:redaction' },
        draft: 0,
      },
    ]);
  });

  it('is for the MissionOwner and the Coordinator under its lease, and for the author of the Message only as one of them', () => {
    const given = world();
    expect(given.outcome(byWorker('message.redact', redaction()))).toBe('AUTH_STALE_COORDINATOR');
    expect(given.outcome(byWorker('message.redact', redaction(), { coordinatorEpoch: 1 }))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(byOwnerNow({}, { actor: OTHER_HUMAN }))).toBe('GROUP_NOT_FOUND');
    expect(given.outcome(byCoordinator('message.redact', redaction(), { coordinatorEpoch: 2 }))).toBe(
      'AUTH_STALE_COORDINATOR',
    );
    const decision = given.decide(byCoordinator('message.redact', redaction())) as Accepted;
    expect(decision.events[0]?.payload['amendment']).toMatchObject({ author: COORDINATOR });
    given.advance(400 * 86_400);
    expect(given.outcome(byCoordinator('message.redact', redaction()))).toBe('AUTH_STALE_COORDINATOR');
    expect(given.outcome(byOwnerNow())).toBe('accepted');
  });

  it('MWP-MSN-023: needs a reason', () => {
    const given = world();
    for (const reason of [undefined, '', 'x'.repeat(4_001)])
      expect(given.outcome(byOwnerNow({ reason }))).toBe('INVALID_COMMAND');
    expect(given.outcome(byOwnerNow({ reason: 'x'.repeat(4_000) }))).toBe('accepted');
  });

  it('refuses a Message that is not there, and one of another Group in the same words', () => {
    const given = world();
    const second = { missionId: 'urn:test:mission:2', groupId: 'urn:test:group:2' };
    given.accept(missionCreate({ payload: second, envelope: { groupId: second.groupId } }));
    const conversationId = given.view.mustGet('group', second.groupId).mainConversationId;
    const elsewhere = { messageId: 'urn:test:message:elsewhere', conversationId, content: 'x' };
    given.accept(byOwner('message.post', elsewhere, { groupId: second.groupId }));
    const ofOwner = (messageId: string) => given.decide(byOwnerNow({ messageId }));
    expect(ofOwner('urn:test:message:none')).toMatchObject({ code: 'INVALID_COMMAND' });
    expect(ofOwner(elsewhere.messageId)).toEqual(ofOwner('urn:test:message:none'));
  });

  it('is of a Message, never of an amendment by itself, and under an id that no Message has', () => {
    const given = world();
    const corrected = { amendmentId: 'urn:test:correction', messageId: SAID, reason: 'x', replacementContent: 'y' };
    given.accept(byWorker('message.correct', corrected));
    expect(given.outcome(byOwnerNow({ messageId: 'urn:test:correction' }))).toBe('INVALID_COMMAND');
    for (const amendmentId of [SAID, 'urn:test:correction'])
      expect(given.outcome(byOwnerNow({ amendmentId }))).toBe('INVALID_STATE_TRANSITION');
  });

  it('nothing follows it: no correction, no retraction and no second redaction, and other Messages go on', () => {
    const given = world();
    given.accept(byOwnerNow());
    const amendment = { amendmentId: 'urn:test:late', messageId: SAID, reason: 'x' };
    const late = [
      byWorker('message.correct', { ...amendment, replacementContent: 'the secret again' }),
      byWorker('message.retract', amendment),
      byOwnerNow(),
      byCoordinator('message.redact', redaction()),
    ];
    for (const draft of late) expect(given.outcome(draft)).toBe('INVALID_STATE_TRANSITION');
    const conversationId = given.view.mustGet('group', GROUP).mainConversationId;
    const next = { messageId: 'urn:test:message:next', conversationId, content: 'and now' };
    given.accept(byWorker('message.post', next));
    expect(given.outcome(byOwnerNow({ messageId: next.messageId }))).toBe('accepted');
  });

  it('MWP-EVT-007a: compares expectedRevision with the Conversation', () => {
    const given = world();
    expect(given.outcome(byOwnerNow({}, { expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(byOwnerNow({}, { expectedRevision: 1 }))).toBe('accepted');
  });

  it('ends with the Mission', () => {
    const given = world();
    given.accept(byOwner('mission.cancel', { reason: 'No longer needed' }));
    expect(given.outcome(byOwnerNow())).toBe('INVALID_STATE_TRANSITION');
    expect(given.outcome(byCoordinator('message.redact', redaction()))).toBe('INVALID_STATE_TRANSITION');
  });
});

describe('the extension that marks a rendition', () => {
  it('cannot be brought by a Command, whose extensions go into its Events', () => {
    const given = world();
    const extensions = { [RENDITION_EXTENSION]: { version: '1.0.0', critical: false, data: {} } };
    expect(given.outcome(byOwnerNow({}, { extensions }))).toBe('INVALID_COMMAND');
    const other = { 'urn:test:extension': { version: '1.0.0', critical: false, data: {} } };
    expect(given.outcome(byOwnerNow({}, { extensions: other }))).toBe('accepted');
  });
});
