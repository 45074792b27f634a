// The Work Contract as it arrives: complete, well-formed, and within what its Mission allows (MWP-WRK-001, WT-2).
import { z } from 'zod';
import { describeFault } from '../protocol/documents/catalogue.ts';
import { isJsonObject, type JsonObject } from '../protocol/documents/json-value.ts';
import { workContractSchema } from '../protocol/documents/work-contract.ts';
import { isRefusal, refuse, type ErrorCode, type Refusal } from '../protocol/refusals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { MissionAggregate, WorkContract } from './aggregates.ts';
import { acceptedLimits, limitsOf, within } from './budget.ts';
import { isClaimedId } from './claimed-ids.ts';
import { one, type Read } from './reads.ts';
import type { View } from './view.ts';

/** Dependencies, and likewise input Artifacts, of one contract: each is looked up. */
export const REFERENCES_MAXIMUM = 500;
/** Each criterion meets every piece of Evidence of a submission, while the Group waits. */
const CRITERIA_MAXIMUM = 500;
/** Each capability meets every one of each candidate's Card. */
const CAPABILITIES_MAXIMUM = 100;

/** Hands on the very value received: a parse result would be a copy, and a hash covers the original. */
export function readContract(value: JsonObject): WorkContract<string> | Refusal {
  const parsed = workContractSchema.safeParse(value);
  if (parsed.success) return value as unknown as WorkContract<string>;
  const absent = parsed.error.issues.find(({ path }) => path.length > 0 && memberAt(value, path) === undefined);
  if (absent) {
    return faulty('WORK_CONTRACT_INCOMPLETE', new z.ZodError([absent]));
  }
  return faulty('SCHEMA_VALIDATION_FAILED', parsed.error);
}

function faulty(code: ErrorCode, error: z.ZodError): Refusal {
  const { fault, reason } = describeFault(error);
  return refuse(code, `contract: ${fault}`, { reason: `contract: ${reason}` });
}

function memberAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<PropertyKey, unknown>)[name];
  }
  return found;
}

/** What can be judged from the contract and its Mission alone. */
export function checkContract(contract: WorkContract<string>, mission: MissionAggregate, now: string) {
  return (
    checkRisk(contract) ??
    checkDeadline(contract.deadline, mission.mission.deadline, now) ??
    checkPermissions(contract, mission.details.permissions) ??
    checkWithinMission(contract, mission) ??
    checkSize(contract)
  );
}

/** Such work may not even be described without a human's approval. */
function checkRisk({ sideEffectRisk, executionApproval }: WorkContract<string>): Refusal | undefined {
  const risky = sideEffectRisk === 'high_risk' || sideEffectRisk === 'destructive';
  if (!risky || executionApproval === 'human_required') return undefined;
  return refuse('WORK_CONTRACT_INCOMPLETE', `sideEffectRisk ${sideEffectRisk} needs executionApproval human_required`);
}

function checkDeadline(deadline: string, missionDeadline: string, now: string): Refusal | undefined {
  if (compareTimestamps(now, deadline) >= 0)
    return refuse('INVALID_COMMAND', 'the deadline of the contract has passed');
  if (compareTimestamps(deadline, missionDeadline) <= 0) return undefined;
  return refuse('INVALID_COMMAND', 'the deadline of the contract is after that of the Mission');
}

/** A Mission without permissions restricts nothing. */
function checkPermissions(contract: WorkContract<string>, permissions: readonly string[]): Refusal | undefined {
  if (permissions.length === 0) return undefined;
  const stranger = contract.allowedResources
    .flatMap(({ operations }) => operations)
    .find((operation) => !permissions.includes(operation));
  if (stranger === undefined) return undefined;
  return refuse('AUTH_FORBIDDEN', 'the Mission does not permit an operation of the contract', {
    details: { operation: stranger },
  });
}

function checkWithinMission({ budget }: WorkContract<string>, { mission }: MissionAggregate): Refusal | undefined {
  const limits = limitsOf(budget);
  if (isRefusal(limits)) return limits;
  if (budget.currency !== undefined && budget.currency !== mission.budget.currency) {
    return refuse('INVALID_COMMAND', 'the currency differs from that of the Mission tree');
  }
  if (within(limits, acceptedLimits(mission.budget))) return undefined;
  return refuse('BUDGET_EXCEEDED', 'the budget of the contract is beyond that of the Mission');
}

/** The schema leaves these open; together they decide how long a decision takes. */
function checkSize(contract: WorkContract<string>): Refusal | undefined {
  const { dependencyWorkItemIds, inputArtifacts, acceptanceCriteria, requiredCapabilities } = contract;
  const sizes: [count: number, maximum: number, what: string][] = [
    [dependencyWorkItemIds.length, REFERENCES_MAXIMUM, 'dependencies'],
    [inputArtifacts.length, REFERENCES_MAXIMUM, 'input Artifacts'],
    [acceptanceCriteria.length, CRITERIA_MAXIMUM, 'acceptance criteria'],
    [requiredCapabilities.length, CAPABILITIES_MAXIMUM, 'required capabilities'],
  ];
  const over = sizes.find(([count, maximum]) => count > maximum);
  return over && refuse('INVALID_COMMAND', `the contract names more than ${over[1]} ${over[2]}`);
}

/** Reads are named before the contract is known to be well-formed, so this takes whatever is an id in form. */
export function contractReferences(value: unknown, member: 'dependencyWorkItemIds' | 'inputArtifacts'): string[] {
  const references = isJsonObject(value) ? value[member] : undefined;
  if (!Array.isArray(references)) return [];
  return references.slice(0, REFERENCES_MAXIMUM).filter(isClaimedId);
}

export function dependencyReads(contract: unknown): Read[] {
  return contractReferences(contract, 'dependencyWorkItemIds').map((id) => one('work_item', id));
}

/** Every dependency is of this Mission; `dependencyIds`, which the reference's clients send, says nothing else. */
export function checkDependencies(
  { dependencyWorkItemIds }: WorkContract<string>,
  { groupId, dependencyIds }: { groupId: string; dependencyIds: readonly string[] | undefined },
  view: View,
): Refusal | undefined {
  const named = new Set(dependencyIds ?? dependencyWorkItemIds);
  if (named.size !== dependencyWorkItemIds.length || !dependencyWorkItemIds.every((id) => named.has(id))) {
    return refuse('INVALID_COMMAND', 'dependencyIds differ from those of the contract');
  }
  const known = (id: string) => view.get('work_item', id)?.workItem.groupId === groupId;
  if (dependencyWorkItemIds.every(known)) return undefined;
  return refuse('INVALID_COMMAND', 'a dependency is no WorkItem of this Mission');
}
