import { describe, expect, it } from 'vitest';
import type { Accepted } from '../../src/domain/decider.ts';
import { ERASURE_REASONS, EVENT_ERASE } from '../../src/protocol/retention.ts';
import { archive, archivedGroup, ARCHIVE, ARCHIVIST, takenSnapshot } from '../support/archival.ts';
import {
  activeMission,
  byCoordinator,
  byOwner,
  byWorker,
  GROUP,
  missionCreate,
  OTHER_HUMAN,
  OWNER,
  WORKER,
} from '../support/fixtures.ts';
import { SERVICE } from '../support/draft-of-each-kind.ts';
import type { CommandDraft, World } from '../support/world.ts';

const SAID = 'urn:test:message:said';
const ERASER = { type: 'service', id: 'urn:test:service:eraser' } as const;

function world(): World {
  const fresh = activeMission();
  fresh.policy.services.push({ serviceId: ERASER.id, kinds: [EVENT_ERASE], relay: false });
  fresh.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
  const conversationId = fresh.view.mustGet('group', GROUP).mainConversationId;
  fresh.accept(byWorker('message.post', { messageId: SAID, conversationId, content: 'the first secret' }));
  return fresh;
}

const erase = (payload: object = {}, envelope: object = {}): CommandDraft => ({
  kind: EVENT_ERASE,
  actor: ERASER,
  groupId: GROUP,
  payload: { messageId: SAID, reasonCode: 'personal_data', ...payload },
  ...envelope,
});
const amendment = (amendmentId: string, more: object = {}) => ({ amendmentId, messageId: SAID, reason: 'x', ...more });
const REDACTION = 'urn:test:redaction';

describe('ext.mwp.retention.event_erase', () => {
  it('MWP-MSN-009c: appends one Event of ids and a reason code, which the Message notes and else nothing', () => {
    const given = world();
    const original = structuredClone(given.view.mustGet('message', SAID));
    const [event, ...others] = given.accept(erase());
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      kind: 'ext.mwp.retention.event_erased',
      groupId: GROUP,
      conversationId: original.conversationId,
      aggregateRevision: 2,
      actor: ERASER,
    });
    expect(event?.payload).toEqual({ messageId: SAID, reasonCode: 'personal_data' });
    const erasure = { reasonCode: 'personal_data', erasedBy: ERASER, erasedAt: given.now };
    expect(given.view.mustGet('message', SAID)).toEqual({ ...original, erasure });
    expect(given.view.mustGet('conversation', original.conversationId).revision).toBe(2);
  });

  it('marks what it covers as erased, with the redaction where there was one, and its policy entry holds no text', () => {
    const given = world();
    expect((given.decide(erase()) as Accepted).withholds).toMatchObject({
      cause: 'erased',
      reasonCode: 'personal_data',
      message: { messageId: SAID },
      draft: 0,
    });
    expect((given.decide(erase()) as Accepted).withholds?.redaction).toBeUndefined();
    given.accept(byOwner('message.redact', amendment(REDACTION)));
    const { withholds, policyLog } = given.decide(erase()) as Accepted;
    expect(withholds?.redaction).toMatchObject({ messageId: REDACTION, author: OWNER });
    expect(policyLog).toEqual([
      {
        groupId: GROUP,
        decision: 'a Message is erased',
        details: { rule: 'MWP-MSN-009c', messageId: SAID, reasonCode: 'personal_data' },
        draft: 0,
      },
    ]);
  });

  it('MWP-EXT-003: is for a service that the policy names for it, whether there is such a Group or not', () => {
    const given = world();
    for (const groupId of [GROUP, 'urn:test:group:none']) {
      expect(given.outcome(erase({}, { groupId, actor: SERVICE }))).toBe('AUTH_FORBIDDEN');
      for (const actor of [OWNER, OTHER_HUMAN])
        expect(given.outcome(erase({}, { groupId, actor, membershipEpoch: 1 }))).toBe('AUTH_FORBIDDEN');
    }
    given.policy.services.push({ serviceId: ARCHIVIST.id, kinds: [ARCHIVE], relay: true });
    expect(given.outcome(erase({}, { actor: ARCHIVIST }))).toBe('AUTH_FORBIDDEN');
    expect(given.outcome(erase({}, { groupId: 'urn:test:group:none' }))).toBe('GROUP_NOT_FOUND');
    expect(given.outcome(erase())).toBe('accepted');
  });

  it('MWP-ADM-014a: the right must have stood when it was signed, and stand now', () => {
    const given = world();
    const { policy } = given;
    given.policyAt = () => ({ ...policy, services: [] });
    expect(given.outcome(erase())).toBe('AUTH_FORBIDDEN');
    given.policyAt = () => policy;
    given.policy = { ...policy, services: [] };
    expect(given.outcome(erase())).toBe('AUTH_FORBIDDEN');
  });

  it('takes a reason code of the closed list, and no text beside it', () => {
    const given = world();
    for (const reasonCode of ERASURE_REASONS) expect(given.outcome(erase({ reasonCode }))).toBe('accepted');
    for (const wrong of [undefined, null, '', 'other', 'Personal_data', 'personal_data ', ['personal_data']])
      expect(given.outcome(erase({ reasonCode: wrong }))).toBe('INVALID_COMMAND');
    for (const member of ['reason', 'comment', 'amendmentId'])
      expect(given.outcome(erase({ [member]: 'it names Quirinus' }))).toBe('INVALID_COMMAND');
    expect(given.outcome(erase({ messageId: undefined }))).toBe('INVALID_COMMAND');
    const extensions = { 'urn:test:note': { version: '1.0.0', critical: false, data: 'it names Quirinus' } };
    expect(given.outcome(erase({}, { extensions }))).toBe('INVALID_COMMAND');
    expect(given.outcome(erase({}, { extensions: {} }))).toBe('accepted');
  });

  it.each([[GROUP], ['*']])('is blocked while the policy holds %s, and by a hold alone', (held) => {
    const given = world();
    given.policy.legalHolds = [held];
    expect(given.decide(erase())).toMatchObject({
      code: 'AUTH_FORBIDDEN',
      message: 'a legal hold of the policy keeps what is in this Group',
    });
    // As it stands now: a hold that was lifted since, or one of another Group, keeps nothing.
    const whenSigned = { ...given.policy };
    given.policyAt = () => whenSigned;
    given.policy = { ...given.policy, legalHolds: ['urn:test:group:2'] };
    expect(given.outcome(erase())).toBe('accepted');
  });

  it('refuses a Message that is not there, and one of another Group in the same words', () => {
    const given = world();
    const second = { missionId: 'urn:test:mission:2', groupId: 'urn:test:group:2' };
    given.accept(missionCreate({ payload: second, envelope: { groupId: second.groupId } }));
    const conversationId = given.view.mustGet('group', second.groupId).mainConversationId;
    const elsewhere = { messageId: 'urn:test:message:elsewhere', conversationId, content: 'x' };
    given.accept(byOwner('message.post', elsewhere, { groupId: second.groupId }));
    const none = given.decide(erase({ messageId: 'urn:test:message:none' }));
    expect(none).toMatchObject({ code: 'INVALID_COMMAND' });
    expect(given.decide(erase({ messageId: elsewhere.messageId }))).toEqual(none);
  });

  it('is of a Message with all that amended it, never of an amendment by itself', () => {
    const given = world();
    given.accept(byWorker('message.correct', amendment('urn:test:correction', { replacementContent: 'y' })));
    given.accept(byOwner('message.redact', amendment(REDACTION)));
    for (const messageId of ['urn:test:correction', REDACTION])
      expect(given.outcome(erase({ messageId }))).toBe('INVALID_COMMAND');
    expect(given.outcome(erase())).toBe('accepted');
  });

  it('nothing follows it: no correction, no retraction, no redaction and no second erasure', () => {
    const given = world();
    given.accept(erase());
    for (const draft of [
      byWorker('message.correct', amendment('urn:test:late', { replacementContent: 'the secret again' })),
      byWorker('message.retract', amendment('urn:test:late')),
      byOwner('message.redact', amendment('urn:test:late')),
      byCoordinator('message.redact', amendment('urn:test:late')),
      erase({ reasonCode: 'court_order' }),
    ])
      expect(given.decide(draft)).toMatchObject({ code: 'INVALID_STATE_TRANSITION', message: 'the Message is erased' });
  });

  it('MWP-EVT-007a: compares expectedRevision with the Conversation', () => {
    const given = world();
    expect(given.outcome(erase({}, { expectedRevision: 0 }))).toBe('REVISION_CONFLICT');
    expect(given.outcome(erase({}, { expectedRevision: 1 }))).toBe('accepted');
  });

  it('MWP-MSN-009c: in an ended Mission and in an archived Group, which takes nothing else', () => {
    const given = world();
    given.policy.services.push({ serviceId: ARCHIVIST.id, kinds: [ARCHIVE], relay: false });
    given.accept(byOwner('mission.cancel', { reason: 'No longer needed' }));
    expect(given.outcome(erase())).toBe('accepted');
    given.advance(60);
    given.accept(archive(takenSnapshot(given)));
    given.policy.legalHolds = [GROUP];
    expect(given.outcome(erase())).toBe('AUTH_FORBIDDEN');
    given.policy.legalHolds = [];
    given.accept(erase());
    expect(given.view.mustGet('group', GROUP).state).toBe('archived');
    expect(given.outcome(erase())).toBe('INVALID_STATE_TRANSITION');
    expect(given.outcome(byOwner('message.redact', amendment(REDACTION)))).toBe('INVALID_STATE_TRANSITION');
    const own = (view: World['view']) =>
      new Map(view.all().flatMap(({ kind, id, groupId, document }) => (groupId ? [[`${kind} ${id}`, document]] : [])));
    expect(own(given.replay())).toEqual(own(given.view));
  });

  it('tells an archived Group’s service without the right nothing of it', () => {
    expect(archivedGroup().outcome(erase({}, { actor: SERVICE }))).toBe('AUTH_FORBIDDEN');
  });
});
