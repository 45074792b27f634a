// What several work Events do to a WorkItem: the revision step, and fencing an owner out.
import type { Committed, LeaseAggregate, Offer, WorkItemAggregate } from './aggregates.ts';
import type { Command, FoldableEvent } from './decider.ts';
import { closeLease } from './leases.ts';
import type { View } from './view.ts';

/** Replaces the item; its revision and `updatedAt` come from the Event. A limited fold skips an item it never saw. */
export function changeWorkItem(
  view: View,
  event: Pick<FoldableEvent, 'aggregateRevision' | 'occurredAt'>,
  workItemId: string,
  change: (item: WorkItemAggregate) => WorkItemAggregate,
): void {
  const item = view.toChange('work_item', workItemId);
  if (!item) return;
  const { workItem, details } = change(item);
  const revision = event.aggregateRevision ?? workItem.revision;
  view.set('work_item', workItemId, workItem.groupId, {
    workItem: { ...workItem, revision, updatedAt: event.occurredAt },
    details,
  });
}

/** The envelope members of every Event about a WorkItem. */
export function workEvent<T>({ workItem }: WorkItemAggregate<T>, aggregateRevision = workItem.revision + 1) {
  const { groupId, workItemId, conversationId } = workItem;
  return { groupId, aggregateRevision, workItemId, conversationId };
}

/** For kinds whose revision is the WorkItem's (commands.md (c)). One of another Group has none that could be told. */
export function workItemRevision({ groupId }: Command, workItemId: string, view: View): number | undefined {
  const workItem = view.get('work_item', workItemId)?.workItem;
  return workItem && workItem.groupId === groupId ? workItem.revision : undefined;
}

/**
 * WorkItems of one Mission. Its submission looks at all of them and its cancellation at all of their leases, of which an item
 * has at most three: beyond LIST_READ_MAXIMUM a Mission could never end. Its cancellation also signs an Event for each in
 * one transaction, a millisecond or more apiece, in which nothing else of a local store is decided.
 */
export const WORK_ITEMS_MAXIMUM = 1_000;

/** One more WorkItem, and one more Mission revision. */
export function countWorkItem(view: View, missionId: string): void {
  const held = view.toChange('mission', missionId);
  if (!held) return;
  const details = { ...held.details, workItemCount: (held.details.workItemCount ?? 0) + 1 };
  view.set('mission', missionId, held.mission.groupId, { ...held, details });
  bumpMission(view, missionId);
}

/** One more Mission revision, for the Events that commands.md (c) lists. */
export function bumpMission(view: View, missionId: string): void {
  const held = view.toChange('mission', missionId);
  if (!held) return;
  const { mission, details } = held;
  view.set('mission', missionId, mission.groupId, { mission: { ...mission, revision: mission.revision + 1 }, details });
}

export function bumpMissionOf(view: View, workItemId: string): void {
  const item = view.toChange('work_item', workItemId);
  if (item) bumpMission(view, item.workItem.missionId);
}

/** The leases of an item, closed; for the payload of an Event that fences or ends it. */
export function closedLeases(
  leases: readonly LeaseAggregate[],
  state: 'released' | 'revoked',
  reason: string,
  now: string,
): LeaseAggregate[] {
  return leases.filter((lease) => lease.state === 'active').map((lease) => closeLease(lease, state, reason, now));
}

export function setLeases(view: View, leases: readonly LeaseAggregate[]): void {
  for (const lease of leases) view.set('lease', lease.leaseId, lease.groupId, lease);
}

/** "Fenced" (commands.md (a)): no owner, no leases, offers withdrawn, one more Ownership Epoch if there was an owner. */
export function fenced<T>(item: WorkItemAggregate<T>): WorkItemAggregate<T> {
  const { owner, offers, ...workItem } = item.workItem;
  const { executionLeaseId: _execution, blockedLeaseId: _blocked, ...details } = item.details;
  return {
    workItem: { ...workItem, ...(offers && { offers: withdrawn(offers) }) },
    details: {
      ...details,
      ownershipEpoch: details.ownershipEpoch + (owner ? 1 : 0),
      // They died with the Ownership Epoch.
      executionApprovalIds: owner ? [] : details.executionApprovalIds,
    },
  };
}

/** Given up: no lease and no offer is left, and why is kept. */
export function ended(
  { workItem, details }: WorkItemAggregate,
  state: 'failed' | 'cancelled',
  endReason: Committed,
): WorkItemAggregate {
  const { offers } = workItem;
  const { executionLeaseId: _execution, blockedLeaseId: _blocked, blocker: _blocker, ...others } = details;
  return {
    workItem: { ...workItem, state, ...(offers && { offers: withdrawn(offers) }) },
    details: { ...others, endReason },
  };
}

export function withdrawn(offers: readonly Offer[]): Offer[] {
  return offers.map((offer) => (offer.status === 'pending' ? { ...offer, status: 'withdrawn' } : offer));
}

/** Work is finished or given up; nothing but `failed` can come back, and only through work.offer. */
export function isUnfinished(item: { workItem: { state: string } }): boolean {
  return !['verified', 'failed', 'cancelled'].includes(item.workItem.state);
}
