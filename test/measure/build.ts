// A Group as a long-lived one is: mostly renewals of leases, some Messages; sent through the service, without a network.
import { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { GroupReader } from '../../src/worker/group-reader.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { id, Mission } from '../support/mission.ts';
import type { Tenant } from '../support/tenant.ts';
import { SLUG, type Service, type Size } from './life.ts';

/** Commands on their way at a time, each of them about a WorkItem of its own: a lease must end later than it did. */
const LANES = 24;
const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';

export interface Built {
  groupId: string;
  events: number;
  conversationId: string;
  leases: { workItemId: string; ownershipEpoch: number; executionLeaseId: string }[];
}

/** `before`: goes on with that Group. */
export async function build(
  service: Service,
  [olga, ada, bob]: [ActorKey, ActorKey, ActorKey],
  { events, messagePercent }: Size,
  before?: Built,
): Promise<Built> {
  const tokens = new Map<ActorKey, string>();
  const tokenOf = async (key: ActorKey) => {
    const known = tokens.get(key);
    if (known !== undefined) return known;
    const client = new AuthorityClient({ url: service.url, organization: SLUG, key });
    const login = key.principal.type === 'agent' && !before ? await client.openSession() : await client.logIn();
    if (!login.ok) throw new Error(login.problem.message);
    tokens.set(key, login.value.token);
    return login.value.token;
  };
  const submit = async (key: ActorKey, draft: CommandDraft, epochs: Epochs) => {
    const { bytes } = signCommand(key, draft, epochs, Date.now());
    const answer = await service.composed.app.request(`/v1/orgs/${SLUG}/commands`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokenOf(key)}`, 'content-type': 'application/json' },
      body: bytes as unknown as string,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${draft.kind}: ${text}`);
    const { events: accepted } = JSON.parse(text) as { events: { payload: Record<string, unknown> }[] };
    return { events: accepted };
  };
  const built = before ?? (await begin(service, [olga, ada, bob], submit, tokenOf));
  const { groupId, conversationId } = built;
  const one = (place: number, lease: Built['leases'][number]) => {
    const isMessage = (place * messagePercent) % 100 < messagePercent;
    const payload = isMessage
      ? { messageId: id(), conversationId, content: `Step ${place} is done; the next one follows from what was found.` }
      : { ...lease, leaseSeconds: 3_600 };
    const epochs = isMessage ? { membershipEpoch: 1 } : { membershipEpoch: 1, sessionEpoch: 1 };
    return submit(isMessage ? olga : bob, { kind: isMessage ? 'message.post' : RENEW, groupId, payload }, epochs);
  };
  let place = 0;
  let seen = 0;
  const lane = async (lease: Built['leases'][number]) => {
    while (place < events) {
      const { events: accepted } = await one(place++, lease);
      seen += accepted.length;
    }
  };
  await Promise.all(built.leases.map(lane));
  return { ...built, events: built.events + seen };
}

async function begin(
  service: Service,
  [olga, ada, bob]: [ActorKey, ActorKey, ActorKey],
  submit: (
    key: ActorKey,
    draft: CommandDraft,
    epochs: Epochs,
  ) => Promise<{ events: { payload: Record<string, unknown> }[] }>,
  tokenOf: (key: ActorKey) => Promise<string>,
): Promise<Built> {
  for (const agent of [ada, bob]) await tokenOf(agent);
  // Of a Tenant the drafts ask the clock, and acceptance is ours.
  const tenant = { now: () => new Date().toISOString(), accept: submit } as unknown as Tenant;
  const mission = Mission.draft(tenant, olga, ada);
  await submit(olga, mission.creation(), {});
  await mission.join(bob);
  const leases: Built['leases'] = [];
  while (leases.length < LANES) leases.push(await mission.active(bob));
  const client = new AuthorityClient({ url: service.url, organization: SLUG, key: olga });
  await client.logIn();
  const group = await new GroupReader(client, mission.groupId).group();
  if (!group.ok) throw new Error(group.problem.message);
  const { headSequence } = group.value;
  return {
    groupId: mission.groupId,
    events: headSequence,
    conversationId: group.value.group.mainConversationId,
    leases,
  };
}
