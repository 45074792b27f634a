// Which locks a Command takes and what is loaded with them, in one round trip (design section 4, step 2).
import { commonReads } from '../domain/decide.ts';
import type { Request } from '../domain/decider.ts';
import type { Read } from '../domain/reads.ts';
import type { GroupId } from '../protocol/ids.ts';
import type { AcceptancePlan } from '../store/port.ts';
import type { PreparedCommand } from './prepare.ts';

export function acceptancePlan({ verified, prepared, documents }: PreparedCommand): AcceptancePlan {
  const { kind, command } = prepared;
  const groupId = kind.group === 'none' ? undefined : (command.groupId as GroupId | undefined);
  const plan: AcceptancePlan = {
    organization: kind.locks?.organization ?? 'shared',
    groups: groupId === undefined ? [] : [groupId],
    receipt: { actor: command.actor, actionId: command.actionId },
    signingHashes: [verified.signingHash, ...documents.map((document) => document.verified.signingHash)],
    reads: firstReads(prepared),
  };
  if (kind.moreGroups || kind.decidesOnRecord === true || kind.withholds) plan.alone = true;
  const actor = actorLock(prepared);
  if (actor) plan.actor = actor;
  if (groupId !== undefined) plan.tree = { groupId, mode: kind.locks?.tree ?? 'shared' };
  return plan;
}

export function requestOf(prepared: PreparedCommand['prepared']): Request<unknown> | undefined {
  return prepared.payload.ok ? { command: prepared.command, payload: prepared.payload.value } : undefined;
}

export function firstReads(prepared: PreparedCommand['prepared']): Read[] {
  const request = requestOf(prepared);
  const common = commonReads(prepared.command, prepared.kind);
  return request ? [...common, ...prepared.kind.reads(request)] : common;
}

/** Agents are locked shared, or exclusively by what counts or creates across Groups; session_open locks its Agent. */
function actorLock({ kind, command, payload }: PreparedCommand['prepared']): AcceptancePlan['actor'] {
  const other = payload.ok ? kind.lockActor?.(payload.value) : undefined;
  if (other) return { principal: other, mode: 'exclusive' };
  if (command.actor.type !== 'agent') return undefined;
  return { principal: command.actor, mode: kind.locks?.actor ?? 'shared' };
}
