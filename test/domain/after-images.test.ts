// The three Events that carry the whole WorkItem (design section 3), for members who see everything and for others.
import { describe, expect, it } from 'vitest';
import { byCoordinator, MISSION, RIVAL, WORKER } from '../support/fixtures.ts';
import {
  acceptOffer,
  activeItem,
  byAgent,
  CHECKPOINT,
  cited,
  contractOf,
  ITEM,
  ITEM_IN_STATE,
  itemOf,
  offer,
  offeredItem,
  only,
  openItem,
  verifiedItem,
} from '../support/work-fixtures.ts';
import type { World } from '../support/world.ts';

const IMAGES = ['work.offer.created', 'work.offer.accepted', 'work.contract.revised'];
const sequenceOf = (world: World, kind: string) => world.events.findIndex((event) => event.kind === kind);
const all = (view: World['view']) =>
  new Map(view.all().map(({ kind, id, document }) => [`${kind} ${id}`, document] as const));

function revisedItem(): World {
  const world = offeredItem();
  world.accept(offer({ contract: contractOf({ contractVersion: 2, goal: 'Write better code' }) }));
  world.accept(acceptOffer());
  return world;
}

describe('after-images', () => {
  it('stand in each of the three Events, with texts', () => {
    const world = revisedItem();
    for (const kind of IMAGES) {
      const event = world.events.findLast((candidate) => candidate.kind === kind);
      expect(event?.payload['workItem'], kind).toMatchObject({
        workItemId: ITEM,
        contract: { goal: 'Write better code', businessImpact: 'The release waits for it' },
      });
      expect(event?.payload['details'], kind).toHaveProperty('ownershipEpoch');
    }
  });

  it('change no commitment of an item that is there: the contract keeps those of the Event that brought it', () => {
    const world = openItem();
    const { contract } = itemOf(world).workItem;
    world.accept(offer());
    world.accept(acceptOffer());
    expect(itemOf(world).workItem.contract).toEqual(contract);
    const goal = world.texts.get(contract.goal.commitment);
    expect(goal).toBe('Write the code');
  });

  it('bring new commitments with a new contract version', () => {
    const world = offeredItem();
    const before = itemOf(world).workItem.contract.goal;
    world.accept(offer({ contract: contractOf({ contractVersion: 2 }) }));
    expect(itemOf(world).workItem.contract.goal).not.toEqual(before);
    expect(world.texts.get(itemOf(world).workItem.contract.goal.commitment)).toBe('Write the code');
  });

  it('erasing a text disturbs no fold: the commitment stands in its place and the state is the same', () => {
    const erased = openItem();
    const kept = openItem();
    const { goal } = itemOf(erased).workItem.contract;
    erased.texts.delete(goal.commitment);
    const event = only(erased.accept(offer()));
    kept.accept(offer());
    expect(event.payload['workItem']).toMatchObject({ contract: { goal } });
    expect(all(erased.view)).toEqual(all(kept.view));
  });

  it('carry reported progress and keep its commitments too', () => {
    const world = activeItem();
    const progress = {
      currentPhase: 'Testing',
      completedMilestones: ['Written'],
      nextCheckpoint: 'Soon',
      blockers: [],
      updatedCompletionEstimate: '2026-11-29T14:00:00Z',
      evidenceIds: [],
    };
    world.accept(byAgent(WORKER, 'work.checkpoint', { ...cited(world), checkpoint: CHECKPOINT, progress }));
    const before = itemOf(world).workItem.progress;
    world.advance(900);
    const event = only(world.accept(offer()));
    expect(event.payload['workItem']).toMatchObject({ progress: { currentPhase: 'Testing' } });
    expect(itemOf(world).workItem.progress).toEqual(before);
  });
});

describe('replay equivalence', () => {
  it.each([...Object.entries(ITEM_IN_STATE), ['revised', revisedItem] as const])(
    'a Group with %s work is exactly what its Events say',
    (_, given) => {
      const world = given();
      expect(all(world.replay())).toEqual(all(world.view));
    },
  );

  it('keeps no text in any state', () => {
    const text = /Write the code|Its tests pass|The release waits|Ran the tests|half|better/;
    expect(JSON.stringify([...all(verifiedItem().view).values()])).not.toMatch(text);
    expect(JSON.stringify([...all(revisedItem().view).values()])).not.toMatch(text);
  });
});

describe('a limited member starts from an after-image', () => {
  it.each(['work.offer.created', 'work.offer.accepted'])('from %s on it has the item as everybody has it', (kind) => {
    const world = verifiedItem();
    const seen = world.events.slice(sequenceOf(world, kind));
    const limited = world.replay(seen, { limited: true });
    const { workItem, details } = limited.mustGet('work_item', ITEM);
    const full = itemOf(world);
    expect(details).toEqual(full.details);
    expect({ ...workItem, contract: null }).toEqual({ ...full.workItem, contract: null });
    expect(workItem.contract.goal).not.toEqual(full.workItem.contract.goal);
    expect(limited.has('mission', MISSION)).toBe(false);
  });

  it('skips Events about what it never saw, which elsewhere would be corruption', () => {
    const world = verifiedItem();
    const seen = world.events.slice(sequenceOf(world, 'work.started'));
    expect(world.replay(seen, { limited: true }).has('work_item', ITEM)).toBe(false);
    expect(() => world.replay(seen)).toThrow('absent: work_item');
  });

  it('follows a corrected contract and a cancellation', () => {
    const world = offeredItem();
    world.accept(offer({ candidateAgentIds: [RIVAL.id], contract: contractOf({ contractVersion: 2 }) }));
    world.accept(byCoordinator('work.cancel', { workItemId: ITEM, reason: 'No need' }));
    const seen = world.events.slice(sequenceOf(world, 'work.contract.revised'));
    const limited = world.replay(seen, { limited: true });
    expect(limited.mustGet('work_item', ITEM).workItem).toMatchObject({
      state: 'cancelled',
      contract: { contractVersion: 2 },
    });
  });
});
