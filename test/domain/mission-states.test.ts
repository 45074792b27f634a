// Every Mission Command built so far in every state of a Mission: what the tables do not allow is refused.
import { describe, expect, it } from 'vitest';
import { RESULTS, submit } from '../support/awaiting.ts';
import { activeMission, byCoordinator, byOwner, byWorker, GROUP, MISSION, RIVAL, WORKER } from '../support/fixtures.ts';
import { seedItem } from '../support/seeded-work.ts';
import { changeRequest, finalApproval } from '../support/signed-documents.ts';
import type { CommandDraft, World } from '../support/world.ts';
import type { MissionState } from '../../src/domain/aggregates.ts';

const STATES: MissionState[] = ['active', 'awaiting_approval', 'approved', 'failed', 'cancelled'];
const FINAL: MissionState[] = ['approved', 'failed', 'cancelled'];
const REFUSED = 'INVALID_STATE_TRANSITION';

function missionIn(state: MissionState): World {
  const world = activeMission();
  world.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
  seedItem(world, { state: 'verified', artifactHashes: RESULTS });
  if (state === 'awaiting_approval') world.accept(submit());
  const { mission, details } = world.view.mustGet('mission', MISSION);
  world.view.set('mission', MISSION, GROUP, { mission: { ...mission, state }, details });
  world.advance(1);
  return world;
}

const request = changeRequest();
const answer = { missionRevision: request.missionRevision, feedback: request.comments, approval: request };

const COMMANDS: [string, MissionState[], (world: World) => CommandDraft][] = [
  ['renew_coordinator', ['active', 'awaiting_approval'], () => renew()],
  ['submit_for_approval', ['active'], () => submit()],
  ['approve', ['awaiting_approval'], () => byOwner('mission.approve', { approval: approval() })],
  ['request_changes', ['awaiting_approval'], () => byOwner('mission.request_changes', answer)],
  ['cancel', ['active', 'awaiting_approval'], () => byOwner('mission.cancel', { reason: 'No need' })],
  ['membership.change', ['active', 'awaiting_approval'], () => byOwner('membership.change', newcomer())],
  ['membership.end', ['active', 'awaiting_approval'], () => byOwner('membership.end', { principal: WORKER })],
  ['message.post', ['active', 'awaiting_approval'], (world) => byWorker('message.post', message(world))],
];

const renew = () => byCoordinator('mission.renew_coordinator', { leaseSeconds: 86_400 });
const approval = () => finalApproval({ artifactHashes: RESULTS });
const newcomer = () => ({ principal: RIVAL, roles: ['worker'] });

function message(world: World) {
  const conversationId = world.view.mustGet('group', GROUP).mainConversationId;
  return { messageId: 'urn:test:message:1', conversationId, content: 'Hello' };
}

describe.each(COMMANDS)('MWP-MSN-002a: %s', (_, allowed, command) => {
  it.each(STATES)('with the Mission %s', (state) => {
    const given = missionIn(state);
    expect(given.outcome(command(given))).toBe(allowed.includes(state) ? 'accepted' : REFUSED);
  });
});

describe('MWP-MSN-002a: a final Mission', () => {
  it.each(FINAL)('%s starts no work', (state) => {
    const given = missionIn(state);
    seedItem(given, { workItemId: 'urn:test:work:2', state: 'queued' });
    const start = byWorker('work.start', { workItemId: 'urn:test:work:2', ownershipEpoch: 1 });
    expect(given.outcome(start)).toBe(REFUSED);
  });
});

describe('C17: an archived Group', () => {
  it.each(COMMANDS)('refuses %s', (_, allowed, command) => {
    const given = missionIn(allowed[0] ?? 'active');
    const group = given.view.mustGet('group', GROUP);
    given.view.set('group', GROUP, GROUP, { ...group, state: 'archived', archivedAt: given.now });
    expect(given.outcome(command(given))).toBe(REFUSED);
  });
});
