// work.propose: any member describes work that may be worth doing (commands.md 1.18, WT-1). Nothing is reserved and
// nobody is obliged: a proposal becomes work only when somebody with the authority authorizes it (MWP-MSN-022c).
import { z } from 'zod';
import { id, jsonObject } from '../../protocol/documents/shapes.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/refusals.ts';
import { millisFromTimestamp } from '../../protocol/timestamps.ts';
import type { Command, CommandKind } from '../decider.ts';
import { missionRevision } from '../missions.ts';
import { one, type RecentRead } from '../reads.ts';
import { checkMissionActive, groupOf, missionOf } from '../roles.ts';
import type { View } from '../view.ts';
import { checkContract, checkDependencies, dependencyReads, readContract } from '../work-contracts.ts';
import { optional, payload } from './shapes.ts';

const RATE_WINDOW_SECONDS = 60;

const schema = payload({
  proposalId: id,
  contract: jsonObject,
  dependencyIds: optional(z.array(id)),
  parentWorkItemId: optional(id),
});

export type WorkProposePayload = z.infer<typeof schema>;

export const workPropose: CommandKind<WorkProposePayload> = {
  kind: 'work.propose',
  payload: schema,
  actors: ['agent', 'human'],
  group: 'existing',
  revision: ({ command }, view) => missionRevision(command, view),

  reads: ({ command, payload }) => [
    recentRead(command),
    one('work_proposal', payload.proposalId),
    ...dependencyReads(payload.contract),
    ...(payload.parentWorkItemId === undefined ? [] : [one('work_item', payload.parentWorkItemId)]),
  ],

  limits({ command }, view, { now, policy }) {
    const { count, oldest } = view.recent(recentRead(command));
    if (count < policy.limits.proposalsPerMinute) return undefined;
    const free = millisFromTimestamp(oldest ?? now) + RATE_WINDOW_SECONDS * 1_000;
    return refuse('RATE_LIMITED', 'too many proposals in the last minute', {
      retryAfterMs: Math.max(1, free - millisFromTimestamp(now)),
      details: { limit: 'proposal_rate' },
    });
  },

  decide({ command, payload }, view, { now }) {
    const aggregate = missionOf(view, groupOf(command));
    const { missionId, groupId, revision } = aggregate.mission;
    const { proposalId, parentWorkItemId, dependencyIds } = payload;
    const state = checkMissionActive(command, view) ?? checkUnused(proposalId, view);
    if (state) return state;
    const contract = readContract(payload.contract);
    if (isRefusal(contract)) return contract;
    const refusal =
      checkContract(contract, aggregate, now) ??
      checkDependencies(contract, { groupId, dependencyIds }, view) ??
      checkParent(parentWorkItemId, groupId, view);
    if (refusal) return refusal;
    const proposal = {
      proposalId,
      missionId,
      groupId,
      proposedBy: command.actor,
      contract,
      ...(parentWorkItemId !== undefined && { parentWorkItemId }),
      state: 'open',
      createdAt: now,
    };
    return {
      events: [{ kind: 'work.proposed', groupId, aggregateRevision: revision + 1, payload: { proposal } }],
    };
  },
};

/** (f): accepted in the last 60 seconds by this actor in this Group. */
function recentRead(command: Command): RecentRead {
  const { actor } = command;
  return {
    read: 'recent',
    groupId: groupOf(command),
    eventKind: 'work.proposed',
    actor,
    seconds: RATE_WINDOW_SECONDS,
    limit: 'proposalsPerMinute',
  };
}

function checkUnused(proposalId: string, view: View): Refusal | undefined {
  if (!view.get('work_proposal', proposalId)) return undefined;
  return refuse('INVALID_STATE_TRANSITION', 'the proposal id is already used');
}

function checkParent(parentWorkItemId: string | undefined, groupId: string, view: View): Refusal | undefined {
  if (parentWorkItemId === undefined) return undefined;
  if (view.get('work_item', parentWorkItemId)?.workItem.groupId === groupId) return undefined;
  return refuse('INVALID_COMMAND', 'the parent is no WorkItem of this Mission');
}
