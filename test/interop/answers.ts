// Everything that the read API answers, against the official schemas and hashes.
import type { Group } from './group.ts';
import { schemaFaults, type DocumentName } from './normative.ts';
import type { JsonObject } from './sdk.ts';
import { BASE, type Stage } from './stage.ts';

/** Below a Group: which list holds which document under which member. */
const LISTS: readonly (readonly [list: string, member: string, name: DocumentName])[] = [
  ['work-items', 'workItem', 'work-item'],
  ['conversations', 'conversation', 'conversation'],
  ['leases', 'lease', 'lease'],
  ['artifacts', 'artifact', 'artifact'],
  ['evidence', 'evidence', 'evidence'],
  ['approvals', 'approval', 'approval'],
];
const SIGNED_LISTS = ['artifacts', 'evidence', 'approvals'];

export async function checkAnswers(group: Group, title: string): Promise<void> {
  const { stage, missionId } = group;
  const { checks, sdk } = stage;
  for (const [list, member, name] of LISTS) {
    const items = await readList(group, `/${list}`);
    const faults = items.flatMap((item, at) => schemaFaults(sdk, name, item[member], `${list} ${at}`));
    checks.none(`${title}: ${items.length} × ${name} of /${list} fit the official schema`, none(items, faults));
    if (SIGNED_LISTS.includes(list)) checkSigned(stage, name, items, member, `${title}: /${list}`);
    if (list === 'work-items') await checkWorkItems(group, items, title);
    if (list === 'conversations') await checkMessages(group, items, title);
  }
  const { group: document } = await read(group, '');
  checks.none(`${title}: the Group fits the official schema`, schemaFaults(sdk, 'group', document, 'group'));
  const one = await stage.traffic.must({ path: `${BASE}/missions/${encodeURIComponent(missionId)}`, ...asOlga(group) });
  const missions = await stage.traffic.must({ path: `${BASE}/missions`, ...asOlga(group) });
  const listed = (missions['items'] as JsonObject[]).map(({ mission }) => mission);
  const faults = [one['mission'], ...listed].flatMap((mission) => schemaFaults(sdk, 'mission', mission, 'mission'));
  checks.none(`${title}: the Mission fits the official schema, alone and in the list`, faults);
  await checkMemberships(group, title);
  const proposals = await readList(group, '/proposals');
  for (const { proposal } of proposals) {
    const { contract } = proposal as JsonObject;
    const claim = `${title}: the contract of a proposal fits the official schema`;
    checks.none(claim, schemaFaults(sdk, 'work-contract', contract, 'proposal'));
  }
  const { document: state, stateHash } = await read(group, '/state');
  const recomputed = sdk.sha256Identifier(sdk.canonicalizeJson(state));
  checks.equal(`${title}: stateHash is the official hash of the state document`, stateHash, recomputed);
}

async function checkWorkItems(group: Group, items: readonly JsonObject[], title: string): Promise<void> {
  const { checks, sdk } = group.stage;
  const faults: string[] = [];
  for (const { workItem } of items) {
    const { workItemId, contract } = workItem as { workItemId: string; contract: JsonObject };
    const alone = await read(group, `/work-items/${encodeURIComponent(workItemId)}`);
    faults.push(...schemaFaults(sdk, 'work-item', alone['workItem'], 'alone'));
    faults.push(...schemaFaults(sdk, 'work-contract', contract, 'contract'));
    if (sdk.canonicalizeJson(alone['workItem']) !== sdk.canonicalizeJson(workItem))
      faults.push(`${workItemId} differs`);
  }
  checks.none(`${title}: each WorkItem alone, and its contract, fit the official schemas`, faults);
}

async function checkMessages(group: Group, conversations: readonly JsonObject[], title: string): Promise<void> {
  const { checks, sdk } = group.stage;
  const messages: JsonObject[] = [];
  for (const { conversation } of conversations) {
    const { conversationId } = conversation as { conversationId: string };
    messages.push(...(await readList(group, `/conversations/${encodeURIComponent(conversationId)}/messages`)));
  }
  const faults = messages.flatMap(({ message }, at) => schemaFaults(sdk, 'message', message, `message ${at}`));
  if (messages.length > 0) checks.none(`${title}: ${messages.length} × message fit the official schema`, faults);
  const posted = group.accepted.filter(({ kind }) => kind === 'message.post');
  const sent = posted.map(({ document }) => sdk.canonicalizeJson((document['payload'] as JsonObject)['content']));
  const said = messages.map(({ message }) => sdk.canonicalizeJson((message as JsonObject)['content']));
  checks.equal(`${title}: what was posted is what is read`, said.sort(), sent.sort());
}

async function checkMemberships(group: Group, title: string): Promise<void> {
  const { checks, sdk, traffic } = group.stage;
  const { memberships } = await traffic.must({ path: `${BASE}/me`, ...asOlga(group) });
  const items = [...(await readList(group, '/memberships')), ...(memberships as JsonObject[])];
  const documents = items.flatMap(({ documents: found }) => found as JsonObject[]);
  const faults = documents.flatMap((membership, at) => schemaFaults(sdk, 'membership', membership, `membership ${at}`));
  checks.none(`${title}: ${documents.length} × membership of /memberships and /me fit the official schema`, faults);
}

/** Signed documents come back as they were signed: they verify, and their hash is the one that the authority gives. */
function checkSigned(stage: Stage, kind: string, items: readonly JsonObject[], member: string, title: string): void {
  const { sdk, checks, registry } = stage;
  const faults = items.flatMap(({ [member]: document, details }) => {
    try {
      const bytes = Buffer.from(JSON.stringify(document), 'utf8');
      const { signingHash } = sdk.codec.verify(kind, bytes, { resolve: () => registry });
      return signingHash === (details as JsonObject)['signingHash'] ? [] : [`another signing hash than ${signingHash}`];
    } catch (error) {
      return [`${String(error)} ${JSON.stringify((error as { auditDetail?: unknown }).auditDetail)}`];
    }
  });
  checks.none(`${title} verify, with the official signing hash`, faults);
}

async function readList(group: Group, path: string): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  for (let after = ''; ;) {
    const page = await read(group, `${path}?limit=3${after}`);
    items.push(...(page['items'] as JsonObject[]));
    if (page['next'] === undefined) return items;
    after = `&after=${encodeURIComponent(page['next'] as string)}`;
  }
}

function read(group: Group, path: string): Promise<JsonObject> {
  const base = `${BASE}/groups/${encodeURIComponent(group.groupId)}`;
  return group.stage.traffic.must({ path: base + path, ...asOlga(group) });
}

function asOlga({ cast }: Group): { token: string } {
  return { token: cast.olga.token };
}

/** A list that is empty proves nothing. */
function none(items: readonly unknown[], faults: string[]): string[] {
  return items.length === 0 ? ['there are none'] : faults;
}
