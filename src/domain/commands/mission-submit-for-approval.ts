// mission.submit_for_approval: the Coordinator names one Mission revision and its Artifacts (commands.md 1.6, MT-4).
import { z } from 'zod';
import { sha256 } from '../../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import type { WorkItemAggregate } from '../aggregates.ts';
import type { CommandKind } from '../decider.ts';
import { missionEvent, missionRevision } from '../missions.ts';
import { list, type ListRead } from '../reads.ts';
import { checkCoordinator, checkMissionActive, coordinatorReads, groupOf, missionOf } from '../roles.ts';
import { payload } from './shapes.ts';

/** Artifacts of one submission; the Approval repeats them all. */
const ARTIFACTS_MAXIMUM = 1_000;

const schema = payload({ artifactHashes: z.array(sha256).min(1).max(ARTIFACTS_MAXIMUM) });

export type MissionSubmitForApprovalPayload = z.infer<typeof schema>;

export const missionSubmitForApproval: CommandKind<MissionSubmitForApprovalPayload> = {
  kind: 'mission.submit_for_approval',
  payload: schema,
  actors: ['agent'],
  group: 'existing',
  revision: ({ command }, view) => missionRevision(command, view),
  reads: ({ command }) => [...coordinatorReads(command), itemsRead(groupOf(command))],

  decide({ command, payload }, view, { now }) {
    const items = view.list(itemsRead(groupOf(command)));
    const refusal =
      checkCoordinator(command, view, now) ??
      checkMissionActive(command, view) ??
      checkAllSettled(items) ??
      checkSubmitted(payload.artifactHashes, items);
    if (refusal) return refusal;
    const aggregate = missionOf(view, groupOf(command));
    const { missionId, revision } = aggregate.mission;
    return {
      events: [
        {
          kind: 'mission.submitted_for_approval',
          ...missionEvent(aggregate),
          payload: {
            missionId,
            missionRevision: revision,
            artifactHashes: [...new Set(payload.artifactHashes)].sort(),
          },
        },
      ],
    };
  },
};

function itemsRead(groupId: string): ListRead & { kind: 'work_item' } {
  return list('work_item', { groupId }) as ListRead & { kind: 'work_item' };
}

/** MWP-MSN-008a: every result was reviewed or given up; what failed was made good by a verified replacement. */
function checkAllSettled(items: readonly WorkItemAggregate[]): Refusal | undefined {
  if (items.length === 0) return refuse('INVALID_STATE_TRANSITION', 'the Mission has no WorkItem yet');
  const madeGood = replacedWell(items);
  const unsettled = items.find(({ workItem: { state, workItemId } }) => {
    if (state === 'verified' || state === 'cancelled') return false;
    return !(state === 'failed' && madeGood.has(workItemId));
  });
  if (!unsettled) return undefined;
  const { workItemId, state } = unsettled.workItem;
  return refuse('INVALID_STATE_TRANSITION', `a WorkItem is ${state}`, { details: { workItemId } });
}

/** All items that a verified one replaces, directly or over several attempts. */
function replacedWell(items: readonly WorkItemAggregate[]): Set<string> {
  const byId = new Map(items.map((item) => [item.workItem.workItemId, item]));
  const replaced = new Set<string>();
  for (const item of items.filter(({ workItem }) => workItem.state === 'verified')) {
    let earlier = item.details.replacesWorkItemId;
    while (earlier !== undefined && !replaced.has(earlier)) {
      replaced.add(earlier);
      earlier = byId.get(earlier)?.details.replacesWorkItemId;
    }
  }
  return replaced;
}

function checkSubmitted(hashes: readonly string[], items: readonly WorkItemAggregate[]): Refusal | undefined {
  const results = new Set(
    items
      .filter(({ workItem }) => workItem.state === 'verified')
      .flatMap(({ workItem }) => workItem.submission?.artifactHashes ?? []),
  );
  const stranger = hashes.find((hash) => !results.has(hash));
  if (stranger === undefined) return undefined;
  return refuse('INVALID_COMMAND', 'an Artifact is not among the verified results of this Mission', {
    details: { artifactHash: stranger },
  });
}
