// The ends of what was built: one Message erased, and the Group archived, each ordered by a service of its own.
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import type { GroupReader } from '../../src/worker/group-reader.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { ARCHIVE } from '../support/archival.ts';
import { operate, since, SLUG, type Service } from './life.ts';

/** An erasure that is not carried out in so many never is. */
const ROUNDS_MAXIMUM = 20;
/** Above any sequence of a Group that is measured. */
const HEAD = 1_000_000_000;

interface Figures {
  seconds: number;
  says: string;
}

/** With the snapshot that it needs, which is counted. The Mission is given up before, which is not. */
export async function archive(service: Service, reader: GroupReader, owner: ActorKey): Promise<Figures> {
  const { groupId } = reader;
  const archivist = await serviceFor(service, ARCHIVE);
  const cancellation = { kind: 'mission.cancel', groupId, payload: { reason: 'It was only measured' } } as const;
  await submit(service, owner, cancellation, { membershipEpoch: 1 });
  const begun = performance.now();
  const taken = await reader.takeSnapshot();
  if (!taken.ok) throw new Error(taken.problem.message);
  const snapshotTaken = since(begun);
  const { snapshot } = taken.value;
  await submit(service, archivist, { kind: ARCHIVE, groupId, payload: { snapshot } });
  return { seconds: since(begun), says: `${snapshotTaken.toFixed(2)} s of them for its snapshot` };
}

/** The first Message there is, which lies in a sealed segment, until the database keeps no byte of it. */
export async function erase(service: Service, reader: GroupReader): Promise<Figures> {
  const { groupId } = reader;
  const { store, upkeep } = service.composed;
  const eraser = await serviceFor(service, EVENT_ERASE);
  const { sequence, payload } = await firstMessage(reader);
  const { messageId } = (payload as { message: { messageId: string } }).message;
  const begun = performance.now();
  const order = { messageId, reasonCode: 'personal_data' };
  await submit(service, eraser, { kind: EVENT_ERASE, groupId, payload: order });
  const answered = since(begun);
  const { organizationId } = (await store.organizations.bySlug(SLUG))!;
  for (let round = 0; (await store.erasures.inState(organizationId, 'scrubbed', '', 1)).length === 0; round += 1) {
    if (round === ROUNDS_MAXIMUM) throw new Error('the erasure is not carried out');
    await upkeep.round();
  }
  return { seconds: since(begun), says: `Event ${sequence}; answered after ${answered.toFixed(2)} s` };
}

async function firstMessage(reader: GroupReader) {
  for (let from = 1; ;) {
    const page = await reader.historyPage(from, HEAD);
    if (!page.ok) throw new Error(page.problem.message);
    const { sequence, payload } = page.value.items.find(({ kind }) => kind === 'message.posted') ?? {};
    if (sequence !== undefined) return { sequence, payload };
    if (page.value.next === undefined) throw new Error('nobody said anything');
    from = Number(page.value.next);
  }
}

/** Registered, and allowed that one kind. */
async function serviceFor({ url }: Service, kind: string): Promise<ActorKey> {
  const key = generateActorKey({ type: 'service', id: `urn:measure:service:${kind}` });
  const { principal, keyId, publicKey } = key;
  const body = { principal, displayName: principal.id, keys: [{ keyId, publicKey }] };
  await operate(url, 'POST', `/organizations/${SLUG}/principals`, body);
  const policy = (await operate(url, 'GET', `/organizations/${SLUG}/policy`)) as { services: object[] };
  const services = [...policy.services, { serviceId: principal.id, kinds: [kind], relay: false }];
  await operate(url, 'PUT', `/organizations/${SLUG}/policy`, { ...policy, services });
  return key;
}

async function submit({ url }: Service, key: ActorKey, draft: CommandDraft, epochs: Epochs = {}): Promise<void> {
  const client = new AuthorityClient({ url, organization: SLUG, key });
  const login = await client.logIn();
  if (!login.ok) throw new Error(login.problem.message);
  const answer = await client.submit(signCommand(key, draft, epochs));
  if (!answer.ok) throw new Error(`${draft.kind}: ${answer.problem.message}`);
}
