// The ends of what was built: one Message erased, and the Group archived, each ordered by a service of its own.
import { commandKindOf } from '../../src/domain/commands/catalogue.ts';
import type { GroupReader } from '../../src/worker/group-reader.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { ARCHIVE } from '../support/archival.ts';
import { operate, since, SLUG, type Service } from './life.ts';

const ERASE = 'ext.mwp.retention.event_erase';
/** Milliseconds between two looks whether an erasure is carried out, and until it never is. */
const LOOK = 20;
const CARRIED_OUT_MAXIMUM = 600_000;

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

/** The first Message there is, until its Event is no longer delivered as it was. */
export async function erase(service: Service, reader: GroupReader): Promise<Figures> {
  if (!commandKindOf(ERASE)) return { seconds: 0, says: 'not there' };
  const { groupId } = reader;
  const eraser = await serviceFor(service, ERASE);
  const { sequence, payload } = await firstMessage(reader);
  const { messageId } = payload as { messageId: string };
  const begun = performance.now();
  const order = { messageId, reasonCode: 'personal_data' };
  await submit(service, eraser, { kind: ERASE, groupId, payload: order });
  const original = canonicalText(payload);
  while (canonicalText((await eventAt(reader, sequence)).payload) === original) {
    if (performance.now() - begun > CARRIED_OUT_MAXIMUM) throw new Error('the erasure is not carried out');
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
  return { seconds: since(begun), says: `Event ${sequence}` };
}

async function firstMessage(reader: GroupReader) {
  for (let from = 1; ;) {
    const page = await reader.historyPage(from, Number.MAX_SAFE_INTEGER - 1);
    if (!page.ok) throw new Error(page.problem.message);
    const { sequence, payload } = page.value.items.find(({ kind }) => kind === 'message.posted') ?? {};
    if (sequence !== undefined) return { sequence, payload };
    if (page.value.next === undefined) throw new Error('nobody said anything');
    from = Number(page.value.next);
  }
}

async function eventAt(reader: GroupReader, sequence: number) {
  const page = await reader.historyPage(sequence, sequence);
  const [event] = page.ok ? page.value.items : [];
  if (!event) throw new Error(`no Event ${sequence}`);
  return event;
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
