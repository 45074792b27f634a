// Design section 3: the stored state of a Group is the fold of its Events, nothing else; whoever joined late folds too.
import { describe, expect, it } from 'vitest';
import { activeMission, byCoordinator, byOwner, byWorker, GROUP, OWNER, RIVAL, WORKER } from '../support/fixtures.ts';
import { changeRequest, contextPackage, finalApproval } from '../support/signed-documents.ts';
import { CODE_HASH } from '../support/work-documents.ts';
import { ITEM_IN_STATE, missionRevision, verifiedItem } from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';
import type { WorkItemState } from '../../src/domain/aggregates.ts';
import type { View } from '../../src/domain/view.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';

const IDENTITY = { type: 'service', id: 'urn:test:service:identity' } as const;
const SESSION_OPEN = 'ext.missionweaveprotocol.identity.session_open';

function stateOf(view: View) {
  return view
    .all()
    .filter(({ groupId }) => groupId !== '')
    .sort((a, b) => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1));
}

/** People come and go, the Coordinator stays, and in the end the owner loses interest. */
function life(): World {
  const world = activeMission();
  const conversationId = world.view.mustGet('group', GROUP).mainConversationId;
  const say = (messageId: string) => ({ messageId, conversationId, content: 'A secret word' });
  const invitation = {
    principal: WORKER,
    roles: ['worker'],
    provisional: true,
    provisionalExpiresAt: addSeconds(world.now, 600),
    contextPackage: contextPackage(),
  };
  world.accept(byCoordinator('membership.change', invitation));
  world.accept(byCoordinator('membership.change', { principal: WORKER, roles: ['worker', 'reviewer'] }));
  world.accept(byWorker('message.post', say('urn:test:message:1'), { membershipEpoch: 2 }));
  world.advance(5);
  world.accept(byCoordinator('mission.renew_coordinator', { leaseSeconds: 86_400 }));
  world.accept(byOwner('membership.change', { principal: RIVAL, roles: ['observer'] }));
  world.accept(byOwner('message.post', say('urn:test:message:2')));
  world.accept(byOwner('membership.end', { principal: WORKER, reason: 'A secret reason' }));
  world.accept(byOwner('mission.cancel', { reason: 'A secret reason' }));
  return world;
}

/** One result, sent back once and then approved. */
function success(): World {
  const world = verifiedItem();
  const submit = byCoordinator('mission.submit_for_approval', { artifactHashes: [CODE_HASH] });
  world.accept(submit);
  const request = changeRequest({
    missionRevision: missionRevision(world),
    comments: 'A secret wish',
    approvalId: 'urn:test:approval:0',
  });
  const { missionRevision: revision, comments: feedback } = request;
  world.accept(byOwner('mission.request_changes', { missionRevision: revision, feedback, approval: request }));
  world.accept(submit);
  const approval = finalApproval({
    missionRevision: missionRevision(world),
    artifactHashes: [CODE_HASH],
    approver: OWNER,
    comments: 'A secret praise',
  });
  world.accept(byOwner('mission.approve', { approval }));
  return world;
}

describe('replay equivalence', () => {
  it.each([
    ['cancelled', life],
    ['approved', success],
  ])('the Events alone give the state of a Group whose Mission was %s', (state, play) => {
    const given = play();
    expect(given.view.get('mission', 'urn:test:mission:1')?.mission.state).toBe(state);
    expect(stateOf(given.replay())).toEqual(stateOf(given.view));
    expect(JSON.stringify(stateOf(given.view))).not.toContain('secret');
  });

  it.each([2, 5, 8])('a member who sees the Events from %i on folds them without what came before', (start) => {
    const given = life();
    const seen = given.events.filter(({ sequence = 0 }) => sequence >= start);
    expect(seen.length).toBeGreaterThan(0);
    const view = given.replay(seen, { limited: true });
    expect(view.has('mission', 'urn:test:mission:1')).toBe(false);
  });

  it.each([2, 8, 12])('so does one who sees an approved Mission from %i on', (start) => {
    const given = success();
    const seen = given.events.filter(({ sequence = 0 }) => sequence >= start);
    expect(() => given.replay(seen, { limited: true })).not.toThrow();
  });
});

const STATES = Object.keys(ITEM_IN_STATE) as WorkItemState[];
const INTERRUPTIONS: [string, CommandDraft][] = [
  ['the end of its owner’s Membership', byOwner('membership.end', { principal: WORKER })],
  ['a new session of its owner', { kind: SESSION_OPEN, actor: IDENTITY, payload: { agentId: WORKER.id } }],
  ['the cancellation of its Mission', byOwner('mission.cancel', { reason: 'No need' })],
];

describe.each(INTERRUPTIONS)('a WorkItem under %s', (_, command) => {
  it.each(STATES)('%s: replays, whole and in a limited view', (state) => {
    const given = ITEM_IN_STATE[state]();
    given.policy.services = [{ serviceId: IDENTITY.id, kinds: [SESSION_OPEN], relay: false }];
    const events = given.accept(command);
    expect(stateOf(given.replay())).toEqual(stateOf(given.view));
    expect(() => given.replay(events, { limited: true })).not.toThrow();
  });
});
