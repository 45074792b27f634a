// MWP-IDN-003b: what an owner may still do when its Agent Card changed under the work, and how the work goes on.
import { describe, expect, it } from 'vitest';
import type { CapabilityRef } from '../../src/domain/aggregates.ts';
import { CODING, WORKER } from '../support/fixtures.ts';
import {
  acceptOffer,
  activeItem,
  basisOf,
  blockedItem,
  byAgent,
  CHECKPOINT,
  cited,
  failureReport,
  ITEM,
  itemOf,
  offer,
  publish,
  publishedItem,
  queuedItem,
  staffedMission,
  start,
  submit,
  submittedItem,
} from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';
const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';
const OTHER: CapabilityRef = { id: 'software.review', version: '1.0.0' };
const coding = (version: string): CapabilityRef => ({ ...CODING, version });

/** CODING 1.2.0 was pinned, of Card 1. */
const COMPATIBLE: [name: string, offered: CapabilityRef[]][] = [
  ['the same version in a new Card', [CODING]],
  ['a later patch', [coding('1.2.1')]],
  ['a later minor version', [coding('1.10.0')]],
  ['one more capability', [OTHER, CODING]],
  ['the next major version beside the pinned one', [coding('2.0.0'), CODING]],
];
const INCOMPATIBLE: [name: string, offered: CapabilityRef[]][] = [
  ['without the capability', [OTHER]],
  ['the next major version', [coding('2.0.0')]],
  ['a pre-release of the next major version', [coding('2.0.0-rc.1')]],
  ['an earlier minor version, though a contract may have been content with it', [coding('1.1.9')]],
  ['a pre-release of the pinned version', [coding('1.2.0-rc.1')]],
];

function upgraded(world: World, capabilities: CapabilityRef[], cardVersion = 2): World {
  const card = world.view.mustGet('agent_card', WORKER.id);
  world.view.set('agent_card', WORKER.id, '', { ...card, cardVersion, capabilities });
  return world;
}

const renew = (world: World) => byAgent(WORKER, RENEW, { ...cited(world), leaseSeconds: 600 });
const renewOwnership = () => byAgent(WORKER, RENEW, { workItemId: ITEM, ownershipEpoch: 1, leaseSeconds: 3_600 });

/** What goes on executing, each in a world where nothing else is in its way. */
const EXECUTING: [name: string, world: () => World, draft: (world: World) => CommandDraft][] = [
  ['work.start', queuedItem, () => start()],
  ['work.submit', publishedItem, (world) => submit(world)],
  ['a renewal of the Execution Lease', activeItem, renew],
  ['a renewal of queued ownership', queuedItem, renewOwnership],
  ['a renewal of blocked ownership', blockedItem, renewOwnership],
];
const HANDING_OVER: [name: string, world: () => World, draft: (world: World) => CommandDraft][] = [
  [
    'work.checkpoint',
    activeItem,
    (world) => byAgent(WORKER, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT }),
  ],
  [
    'work.block',
    activeItem,
    (world) => byAgent(WORKER, 'work.block', { ...cited(world), reason: 'Why?', checkpoint: CHECKPOINT }),
  ],
  [
    'work.fail',
    activeItem,
    (world) => byAgent(WORKER, 'work.fail', { ...cited(world), reason: 'No', evidence: [failureReport()] }),
  ],
  ['artifact.publish', activeItem, publish()],
  [
    'resource_usage_record',
    activeItem,
    (world) => byAgent(WORKER, USAGE, { ...cited(world), usageDelta: { modelTokens: 1 } }),
  ],
];

describe('MWP-IDN-003b: after an incompatible upgrade', () => {
  describe.each(EXECUTING)('%s', (_, world, draft) => {
    it.each(INCOMPATIBLE)('is refused: %s', (_name, capabilities) => {
      const given = world();
      expect(given.outcome(draft(given))).toBe('accepted');
      expect(given.outcome(draft(upgraded(given, capabilities)))).toBe('WORK_STALE_OWNERSHIP');
    });

    it.each(COMPATIBLE)('goes on after a compatible one: %s', (_name, capabilities) => {
      const given = upgraded(world(), capabilities);
      expect(given.outcome(draft(given))).toBe('accepted');
    });
  });

  it.each(HANDING_OVER)('%s is still allowed', (_, world, draft) => {
    const given = upgraded(world(), [OTHER]);
    expect(given.outcome(draft(given))).toBe('accepted');
  });

  it('before 1.0.0 every minor version is one of its own', () => {
    const [required, held] = [[coding('0.3.0')], [coding('0.3.1')]];
    const selectionBasis = basisOf({ requiredCapabilities: required, verifiedMatches: held });
    const contract = { requiredCapabilities: required };
    const given = queuedItem({ contract, offer: { selectionBasis } }, upgraded(staffedMission(), held, 1));
    expect(upgraded(given, [coding('0.3.9')]).outcome(start())).toBe('accepted');
    expect(upgraded(given, [coding('0.4.0')]).outcome(start())).toBe('WORK_STALE_OWNERSHIP');
    expect(upgraded(given, [coding('1.0.0')]).outcome(start())).toBe('WORK_STALE_OWNERSHIP');
  });

  it('a Card that offers the pinned version again lets the owner go on', () => {
    const given = upgraded(queuedItem(), [OTHER]);
    expect(given.outcome(start())).toBe('WORK_STALE_OWNERSHIP');
    expect(upgraded(given, [CODING, OTHER], 3).outcome(start())).toBe('accepted');
  });

  it('active work is checkpointed, offered and accepted anew, and only then executed and submitted, under the new pins', () => {
    const given = upgraded(activeItem(), [coding('2.1.0')]);
    expect(given.outcome(offer())).toBe('INVALID_STATE_TRANSITION');
    given.accept(byAgent(WORKER, 'work.checkpoint', { ...cited(given), checkpoint: CHECKPOINT }));
    expect(given.outcome(start())).toBe('WORK_STALE_OWNERSHIP');
    given.accept(offer());
    expect(given.outcome(start())).toBe('WORK_STALE_OWNERSHIP');
    given.accept(acceptOffer());
    expect(itemOf(given).workItem.owner).toMatchObject({
      agentCardVersion: 2,
      capabilityPins: [coding('2.1.0')],
      ownershipEpoch: 3,
    });
    given.accept(start({ ownershipEpoch: 3 }));
    const producer = { agentId: WORKER.id, agentCardVersion: 2, capabilities: [coding('2.1.0')] };
    given.accept(publish({ producer })(given));
    expect(given.outcome(submit(given))).toBe('accepted');
  });

  it('queued and blocked work of such an owner can be offered at once, and of a compatible one not before it lapses', () => {
    for (const world of [queuedItem, blockedItem]) {
      expect(upgraded(world(), [coding('1.3.0')]).outcome(offer())).toBe('INVALID_STATE_TRANSITION');
      expect(upgraded(world(), [coding('2.0.0')]).outcome(offer())).toBe('accepted');
    }
  });

  it('active work that is not checkpointed can be offered once its Execution Lease lapsed', () => {
    const given = upgraded(activeItem(), [coding('2.0.0')]);
    given.advance(299);
    expect(given.outcome(offer())).toBe('INVALID_STATE_TRANSITION');
    given.advance(1);
    expect(given.outcome(offer())).toBe('accepted');
  });

  it('what was submitted before is not undone by it', () => {
    const given = upgraded(submittedItem(), [OTHER]);
    expect(itemOf(given).workItem.state).toBe('submitted');
    expect(given.outcome(offer())).toBe('INVALID_STATE_TRANSITION');
  });
});
