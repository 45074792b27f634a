// Two Organizations with their people and Groups, made over the service's own API before the first fault: in each a hot
// Group that many speak in, and Groups in which work is done.
import { randomUUID } from 'node:crypto';
import type { Accepted } from '../../src/worker/answers.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { generateActorKey } from '../../src/worker/keys.ts';
import { agentCard } from '../transport/cards.ts';
import { ARCHIVE } from '../support/archival.ts';
import { Actor } from './actor.ts';
import type { Stage } from './stage.ts';

const SLUGS = ['north', 'south'];
const SPEAKERS = 4;
const WORKING_GROUPS = 3;
const DEADLINE = '2099-01-01T00:00:00Z';
/** No limit is to end the load. */
const PLENTY = 100_000;
const MANY_ITEMS = 1_000;
/** So small that segments and snapshots are made all the time. */
const SEALING = { onlineWindow: { events: 30 }, snapshotEvery: 15 };
const BUDGET = { modelTokenLimit: 1_000_000_000 };

export interface Team {
  slug: string;
  groupId: string;
  missionId: string;
  conversationId: string;
  owner: Actor;
  coordinator: Actor;
  workers: Actor[];
}

export interface Organization {
  slug: string;
  hot: { groupId: string; conversationId: string };
  speakers: Actor[];
  teams: Team[];
  /** Has no Group, and opens sessions. */
  newcomer: Actor;
  /** A service that may archive and erase. */
  archivist: Actor;
}

export async function makeWorld(stage: Stage): Promise<Organization[]> {
  return Promise.all(SLUGS.map((slug) => makeOrganization(stage, slug)));
}

async function makeOrganization(stage: Stage, slug: string): Promise<Organization> {
  const operator = stage.operator();
  await operator.createOrganization(slug, slug);
  const policy = await operator.policy(slug);
  const limits = { messagesPerMinute: PLENTY, proposalsPerMinute: PLENTY };
  const items = { queuedWorkItems: MANY_ITEMS, activeWorkItems: MANY_ITEMS };
  // So long may a machine sleep between the signing of a Command and its retry.
  const freshness = { ...policy.freshness, behindSeconds: 3_600 };
  const archivist = new Actor(stage, slug, generateActorKey({ type: 'service', id: `urn:fault:${slug}:archivist` }));
  await operator.registerPrincipal(slug, archivist.key, 'Archivist');
  await archivist.arrive();
  const services = [...policy.services, { serviceId: archivist.id, kinds: [ARCHIVE, EVENT_ERASE], relay: false }];
  const generous = { freshness, limits: { ...policy.limits, ...limits, ...items } };
  await operator.putPolicy(slug, { ...policy, ...generous, ...SEALING, services });
  const human = async (name: string) => {
    const actor = new Actor(stage, slug, generateActorKey({ type: 'human', id: `urn:fault:${slug}:human:${name}` }));
    await operator.registerPrincipal(slug, actor.key, name);
    await actor.arrive();
    return actor;
  };
  const agent = async (name: string) => {
    const actor = new Actor(stage, slug, generateActorKey({ type: 'agent', id: `urn:fault:${slug}:agent:${name}` }));
    await operator.registerAgent(slug, agentCard(actor.key, { maxConcurrency: MANY_ITEMS }) as never);
    await actor.arrive();
    return actor;
  };
  const speakers = await Promise.all(Array.from({ length: SPEAKERS }, (_, at) => human(`speaker-${at}`)));
  const [host] = speakers;
  if (!host) throw new Error('nobody speaks');
  const moderator = await agent('moderator');
  const hot = await createGroup(stage, host, moderator);
  for (const speaker of speakers.slice(1)) await join(hot.groupId, moderator, speaker, ['observer']);
  // Works in all Groups, so that each of its sessions ends leases in several.
  const rover = await agent('rover');
  const teams = Array.from({ length: WORKING_GROUPS }, async (_, at): Promise<Team> => {
    const owner = await human(`owner-${at}`);
    const coordinator = await agent(`coordinator-${at}`);
    const workers = [await agent(`worker-${at}`), rover];
    const group = await createGroup(stage, owner, coordinator);
    for (const worker of workers) await join(group.groupId, coordinator, worker, ['worker']);
    return { slug, ...group, owner, coordinator, workers };
  });
  const people = { teams: await Promise.all(teams), newcomer: await agent('newcomer'), archivist };
  return { slug, hot, speakers, ...people };
}

export function missionCreation(coordinatorId: string) {
  const groupId = `urn:uuid:${randomUUID()}`;
  const missionId = `urn:uuid:${randomUUID()}`;
  const payload = {
    missionId,
    groupId,
    coordinatorId,
    title: 'A release',
    objective: 'Ship the release',
    definitionOfDone: [{ criterionId: 'done', description: 'It is shipped', evidenceRequired: ['human_review'] }],
    budget: BUDGET,
    deadline: DEADLINE,
    approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true },
  };
  return { groupId, missionId, draft: { kind: 'mission.create', groupId, payload } as const };
}

async function createGroup(stage: Stage, owner: Actor, coordinator: Actor) {
  const { groupId, missionId, draft } = missionCreation(coordinator.id);
  stage.gate.open();
  const { events } = accepted(await owner.submit(draft));
  const conversationId = events.find(({ kind }) => kind === 'mission.created')?.conversationId;
  if (conversationId === undefined) throw new Error('a Mission without a Conversation');
  return { groupId, missionId, conversationId };
}

async function join(groupId: string, coordinator: Actor, member: Actor, roles: string[]): Promise<void> {
  const payload = { principal: member.key.principal, roles };
  accepted(await coordinator.submit({ kind: 'membership.change', groupId, payload }, { coordinatorEpoch: 1 }));
}

function accepted(answer: Accepted | undefined): Accepted {
  if (!answer) throw new Error('a Command was refused while the world was made');
  return answer;
}
