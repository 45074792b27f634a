// Who may author work (check A of commands.md 0.3, MWP-MSN-019): the Coordinator, or the human MissionOwner in an
// emergency (MWP-MSN-003b). Delegation Grants are not issued yet, so whoever cites one holds none.
import { z } from 'zod';
import { text } from '../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import type { Command, PolicyEntryDraft } from './decider.ts';
import { checkCoordinator, checkOwner, groupOf, missionOf } from './roles.ts';
import type { View } from './view.ts';

export const emergencyOverride = z.strictObject({ reason: text(1, 4_000) });

export interface Authorship {
  delegationGrantId?: string | undefined;
  emergencyOverride?: { reason: string } | undefined;
}

export function checkAuthor(command: Command, cited: Authorship, view: View, now: string): Refusal | undefined {
  if (command.actor.type === 'human') return checkOverride(command, cited, view);
  const isCoordinator = command.actor.id === missionOf(view, groupOf(command)).mission.coordinator.agentId;
  // Whoever brings a Coordinator Epoch claims that office, and learns from the next check whether it is stale.
  if (!isCoordinator && (command.coordinatorEpoch === undefined || cited.delegationGrantId !== undefined)) {
    return refuse('AUTH_FORBIDDEN', 'only the Coordinator, or the holder of a Delegation Grant, may do this');
  }
  return checkCoordinator(command, view, now) ?? checkNothingCited(cited);
}

function checkNothingCited({ delegationGrantId, emergencyOverride }: Authorship): Refusal | undefined {
  if (delegationGrantId !== undefined) return refuse('INVALID_COMMAND', 'the Coordinator needs no Delegation Grant');
  if (emergencyOverride === undefined) return undefined;
  return refuse('INVALID_COMMAND', 'an emergency override is for the human MissionOwner alone');
}

function checkOverride(command: Command, cited: Authorship, view: View): Refusal | undefined {
  const refusal = checkOwner(command, view);
  if (refusal) return refusal;
  if (cited.delegationGrantId !== undefined) {
    return refuse('INVALID_COMMAND', 'a Delegation Grant is for Agents');
  }
  if (cited.emergencyOverride !== undefined) return undefined;
  return refuse('AUTH_FORBIDDEN', 'the MissionOwner assigns work by emergency override only');
}

/** The audit of an override. The reason is free text and stays in the Event alone, where it can be erased. */
export function overrideEntry(command: Command, cited: Authorship, workItemId: string, draft: number) {
  if (!cited.emergencyOverride) return {};
  const entry: PolicyEntryDraft = {
    groupId: groupOf(command),
    decision: `emergency override by the MissionOwner: ${command.kind}`,
    details: { rule: 'MWP-MSN-003b', workItemId },
    draft,
  };
  return { policyLog: [entry] };
}
