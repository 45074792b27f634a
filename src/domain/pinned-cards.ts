// What an acceptance pinned, against the Agent Card that is in force now (MWP-IDN-003b, docs/decisions/0024). An upgrade that
// keeps what was promised changes nothing; after any other one the owner hands over, and executes again only after it won a
// new acceptance.
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { WorkItemAggregate } from './aggregates.ts';
import { keepsPromise } from './capabilities.ts';
import { one, type Read } from './reads.ts';
import type { View } from './view.ts';

/** For Commands of others than the owner, whose own Card every Command of an Agent reads. */
export function ownersCardRead({ workItem }: WorkItemAggregate): Read[] {
  return workItem.owner ? [one('agent_card', workItem.owner.agentId)] : [];
}

/** Asked of whoever goes on executing: start, renew, submit. To checkpoint, block or fail it needs no promise. */
export function checkPins(item: WorkItemAggregate, view: View): Refusal | undefined {
  if (!hasOutgrown(item, view)) return undefined;
  return refuse(
    'WORK_STALE_OWNERSHIP',
    'the Agent Card no longer offers what was accepted: a new acceptance is needed',
  );
}

/** Has the owner's Card left behind what its acceptance pinned? */
export function hasOutgrown({ workItem: { owner } }: WorkItemAggregate, view: View): boolean {
  const card = owner && view.get('agent_card', owner.agentId);
  if (!card || card.cardVersion === owner.agentCardVersion) return false;
  return !owner.capabilityPins.every((pin) => keepsPromise(card.capabilities, pin));
}
