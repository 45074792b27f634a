// The cast of the domain specs and a Mission to play in. Everything goes through Commands but Cards and sessions.
import type { Principal } from '../../src/protocol/principals.ts';
import type { CapabilityRef } from '../../src/domain/aggregates.ts';
import { World, type CommandDraft } from './world.ts';

export const OWNER: Principal = { type: 'human', id: 'urn:test:human:olga' };
export const OTHER_HUMAN: Principal = { type: 'human', id: 'urn:test:human:otto' };
export const COORDINATOR: Principal = { type: 'agent', id: 'urn:test:agent:coordinator' };
export const WORKER: Principal = { type: 'agent', id: 'urn:test:agent:worker-1' };
export const RIVAL: Principal = { type: 'agent', id: 'urn:test:agent:worker-2' };
export const STRANGER: Principal = { type: 'agent', id: 'urn:test:agent:stranger' };

export const GROUP = 'urn:test:group:1';
export const MISSION = 'urn:test:mission:1';
export const DEADLINE = '2026-12-31T00:00:00Z';
export const CODING: CapabilityRef = { id: 'software.coding', version: '1.2.0' };

export function seedAgent(world: World, agent: Principal, capabilities = [CODING], maxConcurrency = 4): void {
  world.view.set('agent_card', agent.id, '', {
    agentId: agent.id,
    cardVersion: 1,
    status: 'active',
    capabilities,
    maxConcurrency,
    issuedAt: world.now,
    signingHash: `sha256:${'0'.repeat(64)}`,
  });
  world.view.set('session', agent.id, '', { agentId: agent.id, sessionEpoch: 1, openedAt: world.now });
}

export function missionCreate(overrides: { envelope?: object; payload?: object } = {}): CommandDraft {
  return {
    kind: 'mission.create',
    actor: OWNER,
    groupId: GROUP,
    payload: {
      missionId: MISSION,
      groupId: GROUP,
      coordinatorId: COORDINATOR.id,
      title: 'Ship it',
      objective: 'Ship the release',
      definitionOfDone: [{ criterionId: 'done', description: 'It is shipped', evidenceRequired: ['human_review'] }],
      budget: {
        currency: 'EUR',
        financialLimit: 100,
        modelTokenLimit: 1_000_000,
        toolCallLimit: 1_000,
        computeSecondsLimit: 10_000,
        wallClockSecondsLimit: 100_000,
        externalSideEffectLimit: 10,
      },
      deadline: DEADLINE,
      approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true },
      coordinatorLeaseSeconds: 86_400,
      ...overrides.payload,
    },
    ...overrides.envelope,
  };
}

/** A world in which the Mission is active and the Agents have Cards and sessions. */
export function activeMission(): World {
  const world = new World();
  for (const agent of [COORDINATOR, WORKER, RIVAL, STRANGER]) seedAgent(world, agent);
  world.accept(missionCreate());
  return world;
}

/** A Command of the Coordinator under its first epochs. */
export function byCoordinator(kind: string, payload: object, envelope: object = {}): CommandDraft {
  return {
    kind,
    actor: COORDINATOR,
    groupId: GROUP,
    sessionEpoch: 1,
    membershipEpoch: 1,
    coordinatorEpoch: 1,
    payload: { ...payload },
    ...envelope,
  };
}

/** A Command of the MissionOwner. */
export function byOwner(kind: string, payload: object, envelope: object = {}): CommandDraft {
  return { kind, actor: OWNER, groupId: GROUP, membershipEpoch: 1, payload: { ...payload }, ...envelope };
}

/** A Command of a Worker that joined as an active member at epoch 1. */
export function byWorker(kind: string, payload: object, envelope: object = {}): CommandDraft {
  return {
    kind,
    actor: WORKER,
    groupId: GROUP,
    sessionEpoch: 1,
    membershipEpoch: 1,
    payload: { ...payload },
    ...envelope,
  };
}
