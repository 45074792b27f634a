// Design section 3: the stored state of a Group is the fold of its Events, nothing else; whoever joined late folds too.
import { describe, expect, it } from 'vitest';
import { activeMission, byCoordinator, byOwner, byWorker, GROUP, RIVAL, WORKER } from '../support/fixtures.ts';
import { contextPackage } from '../support/signed-documents.ts';
import type { World } from '../support/world.ts';
import type { View } from '../../src/domain/view.ts';
import { addSeconds } from '../../src/protocol/timestamps.ts';

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

describe('replay equivalence', () => {
  it('the Events alone give the state of the Group', () => {
    const given = life();
    expect(stateOf(given.replay())).toEqual(stateOf(given.view));
  });

  it('no text of any Event is part of that state', () => {
    expect(JSON.stringify(stateOf(life().view))).not.toContain('secret');
  });

  it.each([2, 5, 8])('a member who sees the Events from %i on folds them without what came before', (start) => {
    const given = life();
    const seen = given.events.filter(({ sequence = 0 }) => sequence >= start);
    expect(seen.length).toBeGreaterThan(0);
    const view = given.replay(seen, { limited: true });
    expect(view.has('mission', 'urn:test:mission:1')).toBe(false);
  });
});
