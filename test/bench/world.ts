// One Organization with its people and Groups, made over the service's own API: humans who own the Groups, and one hot
// Group that all of them are members of. Plain data, so that it can be handed to the process that makes the load.
import { randomUUID } from 'node:crypto';
import type { RequestRates } from '../../src/domain/policy.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey, type NewActorKey } from '../../src/worker/keys.ts';
import { Operator } from '../../src/cli/demo/operator.ts';
import { agentCard } from '../transport/cards.ts';
import { OPERATOR_TOKEN } from './serving.ts';

/** So many that nobody says more in a hot Group than a tenant's usual limit allows. */
const HUMANS = 32;
/** Missions created at the same time. */
const AT_ONCE = 8;
/** The most that a policy may allow. */
const MESSAGES_PER_MINUTE = 100_000;
const DEADLINE = '2099-01-01T00:00:00Z';
const SLUG = 'bench';
/** Nobody is held back by a number: what is measured is the service. */
const UNLIMITED = { perSecond: 100_000, burst: 1_000_000 };
const SHARED = { organization: UNLIMITED, actor: UNLIMITED };
const UNLIMITED_RATES: RequestRates = { commands: SHARED, reads: SHARED, logins: SHARED };

export interface Speaker {
  principalId: string;
  keyId: string;
  /** base64 */
  seed: string;
  token: string;
}

export interface SpokenGroup {
  groupId: string;
  conversationId: string;
  /** Positions in `speakers` of who may speak here. */
  members: number[];
}

export interface World {
  url: string;
  slug: string;
  speakers: Speaker[];
  /** Of all Groups, in its first session. */
  coordinator: Speaker;
  /** The first one is the hot one. */
  groups: SpokenGroup[];
}

export interface WorldOptions {
  slug?: string;
  humans?: number;
  rates?: RequestRates;
}

export async function makeWorld(
  url: string,
  groupCount: number,
  { slug = SLUG, humans: humanCount = HUMANS, rates = UNLIMITED_RATES }: WorldOptions = {},
): Promise<World> {
  const operator = new Operator({ url, token: OPERATOR_TOKEN, signal: new AbortController().signal });
  await operator.createOrganization(slug, 'Bench');
  const policy = await operator.policy(slug);
  const limits = { ...policy.limits, messagesPerMinute: MESSAGES_PER_MINUTE };
  // A checkout from before there were rates takes none.
  await operator.putPolicy(slug, { ...policy, limits, ...('rates' in policy && { rates: UNLIMITED_RATES }) });
  const coordinator = generateActorKey({ type: 'agent', id: 'urn:bench:agent:coordinator' });
  await operator.registerAgent(slug, agentCard(coordinator) as never);
  const humans = Array.from({ length: humanCount }, (_, at) =>
    generateActorKey({ type: 'human', id: `urn:bench:human:${at}` }),
  );
  for (const human of humans) await operator.registerPrincipal(slug, human, 'A human');
  const clientOf = (key: ActorKey) => new AuthorityClient({ url, organization: slug, key });
  const clients = humans.map(clientOf);
  const speakers = await Promise.all(clients.map((client, at) => speaker(client, humans[at] as NewActorKey)));
  const coordinating = clientOf(coordinator);
  must(await coordinating.openSession());

  const groups: SpokenGroup[] = [];
  const numbers = Array.from({ length: groupCount }, (_, at) => at);
  const create = async () => {
    for (let at = numbers.shift(); at !== undefined; at = numbers.shift()) {
      const owner = at % humanCount;
      const made = await createGroup(clients[owner] as AuthorityClient, coordinator);
      groups[at] = { ...made, members: [owner] };
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  const [hot] = groups;
  if (!hot) throw new Error('no Group');
  for (const [at, { principal }] of humans.entries()) {
    if (hot.members.includes(at)) continue;
    const draft = {
      kind: 'membership.change',
      groupId: hot.groupId,
      payload: { principal, roles: ['observer'] },
    } as const;
    await submit(coordinating, draft, { sessionEpoch: 1, membershipEpoch: 1, coordinatorEpoch: 1 });
    hot.members.push(at);
  }
  if ('rates' in policy && rates !== UNLIMITED_RATES) {
    await operator.putPolicy(slug, { ...(await operator.policy(slug)), rates });
  }
  return { url, slug, speakers, coordinator: await speaker(coordinating, coordinator), groups };
}

async function speaker(client: AuthorityClient, key: NewActorKey): Promise<Speaker> {
  const { token } = must(await client.logIn());
  return { principalId: key.principal.id, keyId: key.keyId, seed: Buffer.from(key.seed).toString('base64'), token };
}

async function createGroup(client: AuthorityClient, coordinator: ActorKey) {
  const groupId = `urn:uuid:${randomUUID()}`;
  const payload = {
    missionId: `urn:uuid:${randomUUID()}`,
    groupId,
    coordinatorId: coordinator.principal.id,
    title: 'A release',
    objective: 'Ship the release',
    definitionOfDone: [{ criterionId: 'done', description: 'It is shipped', evidenceRequired: ['human_review'] }],
    budget: { modelTokenLimit: 100_000 },
    deadline: DEADLINE,
    approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true },
  };
  const { events } = await submit(client, { kind: 'mission.create', groupId, payload });
  const conversationId = events.find(({ kind }) => kind === 'mission.created')?.conversationId;
  if (conversationId === undefined) throw new Error('a Mission without a Conversation');
  return { groupId, conversationId };
}

async function submit(client: AuthorityClient, draft: CommandDraft, epochs: Epochs = {}) {
  return must(await client.submit(signCommand(client.key, draft, epochs)));
}

function must<Value>(outcome: { ok: true; value: Value } | { ok: false; problem: unknown }): Value {
  if (outcome.ok) return outcome.value;
  throw new Error(`preparing: ${JSON.stringify(outcome.problem)}`);
}
