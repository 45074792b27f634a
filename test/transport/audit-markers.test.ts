// No piece of a refused Command is in the audit record or in the log: a marker is planted in the place of each member, and
// as the name of a member, of a Command of each kind, and the Command is refused at each stage.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import type { AuditRow } from '../../src/store/port.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { canonicalTextOpenAt } from '../../src/wire/canonical.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { CASES } from '../support/draft-of-each-kind.ts';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Tenant } from '../support/tenant.ts';
import { Api } from './api.ts';

/** What an id may be, so that it comes past the shapes; and what none may be, for the ids that are recorded. */
const MARKER = 'urn:planted:unmistakable-marker';
const NO_ID = 'unmistakable-marker, no id';
const FOUND = /unmistakable|planted/i;
const RECORDED = /^\/(actionId|groupId|actor|actor\/id)$|\/signature\/keyId$/;

type Json = Record<string, unknown>;
const ample = { perSecond: 100_000, burst: 1_000_000 };
const shared = { organization: ample, actor: ample };

// The reasons are made above the store, so one store tells it all.
describe.each(STORES.slice(0, 1))('markers in refused Commands, on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let owner: ActorKey;
  let agent: ActorKey;
  let api: Api;

  beforeAll(async () => {
    opened = await open();
    const rates = { ...DEFAULT_POLICY.rates, commands: shared };
    tenant = await Tenant.create(opened.store, { policy: { rates } });
    owner = await tenant.human('olga');
    agent = await tenant.agent('ada');
    api = new Api(tenant, { monotonic: () => 0 });
  });
  afterAll(() => opened.close());

  /** Signed as it is, whether it fits a schema or not. */
  function signedText(command: Json, key: ActorKey): string {
    const open = canonicalTextOpenAt(command, 'signature');
    const value = encodeBase64url(key.signer.sign(Buffer.from(open.text, 'utf8')));
    return open.with({ algorithm: 'Ed25519', keyId: key.keyId, createdAt: command['issuedAt'], value });
  }

  /** The Command of the collection, from an actor of ours into a Group of ours. */
  async function genuine(kind: string): Promise<{ command: Json; key: ActorKey }> {
    const [world, draftIn] = CASES[kind] as (typeof CASES)[string];
    const { actor, payload } = draftIn(world());
    const { identity, registrar } = tenant.organization;
    const service = tenant.keyOf(kind.includes('identity') ? identity : registrar);
    const key = actor.type === 'human' ? owner : actor.type === 'agent' ? agent : service;
    const mission =
      kind === 'mission.create' ? Mission.draft(tenant, owner, agent) : await Mission.create(tenant, owner, agent);
    const draft = { kind: kind as never, payload, ...(key !== service && { groupId: mission.groupId }) };
    const bytes = tenant.sign(key, draft, mission.epochsOf(key));
    const { signature: _signature, ...command } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Json;
    return { command, key };
  }

  async function send(text: string, key: ActorKey): Promise<void> {
    const { status } = await tenant_submit(text, key);
    expect(status).toBeLessThan(500);
  }
  const tenant_submit = (text: string, key: ActorKey) =>
    key === owner || key === agent
      ? api.submit(key, Buffer.from(text))
      : tenant.submitBytes(Buffer.from(text), key.principal).then(({ accepted }) => ({ status: accepted ? 200 : 400 }));

  it.each(Object.keys(CASES))('MWP-SDV-018c: of %s nothing is found again', async (kind) => {
    const { command, key } = await genuine(kind);
    const stranger = generateActorKey(key.principal);
    const before = (await records()).length;
    const logged = api.log.length;
    let turn = 0;
    for (const { inPlace, asName } of plantedIn(command)) {
      // The schema, the payload's shape, a document inside, or the rules.
      await send(signedText(asName, key), key);
      const text = signedText(inPlace, key);
      await send(text, key);
      await send(`${text}x`, key);
      // To name the stage of these two takes long, and neither looks at what is planted: in turn.
      const impostor = (turn += 1) % 2 === 0 ? stranger : { ...key, signer: stranger.signer };
      await send(signedText(inPlace, impostor), key);
      await send(text.replace(/"createdAt":"2/, '"createdAt":"1'), key);
      await send(text.replace('"protocolVersion":"0.1"', '"protocolVersion":"0.2"'), key);
    }
    const rows = (await records()).slice(before);
    const stages = new Set(rows.map(({ stage }) => stage));
    expect([...stages].sort()).toEqual(
      expect.arrayContaining(['key-resolution', 'parse', 'schema', 'signature', 'signature-envelope']),
    );
    expect(stages.has('domain') || kind === 'message.post').toBe(true);
    expect(rows.filter((row) => FOUND.test(JSON.stringify(row)))).toEqual([]);
    expect(api.log.slice(logged).filter((line) => FOUND.test(line))).toEqual([]);
    expect(tenant.alarms.filter((line) => FOUND.test(line))).toEqual([]);
  });

  it('a marker that is planted where ids are recorded is found: the test can fail', async () => {
    const { command, key } = await genuine('mission.cancel');
    await send(signedText({ ...command, groupId: MARKER }, key), key);
    expect((await records()).at(-1)?.groupId).toBe(MARKER);
  });

  async function records(): Promise<AuditRow[]> {
    const rows: AuditRow[] = [];
    for (;;) {
      const page = await opened.store.read(tenant.organization.organizationId, (reader) =>
        reader.audit(rows.at(-1)?.id ?? 0, 1_000),
      );
      if (page.length === 0) return rows;
      rows.push(...page);
    }
  }
});

/** For each member of the Command: with the marker in its place, and with a member in it that has the marker for a name. */
function* plantedIn(command: Json): Generator<{ inPlace: Json; asName: Json }> {
  for (const pointer of pointersIn(command)) {
    const inPlace = changedAt(command, pointer, () => (RECORDED.test(pointer) ? NO_ID : MARKER));
    const asName = changedAt(command, pointer, (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, [MARKER]: MARKER } : [MARKER],
    );
    yield { inPlace, asName };
  }
}

function pointersIn(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const pointer = `${at}/${name}`;
    return [pointer, ...pointersIn(inner, pointer)];
  });
}

function changedAt(command: Json, pointer: string, change: (value: unknown) => unknown): Json {
  const copy = structuredClone(command);
  const names = pointer.split('/').slice(1);
  const last = names.pop() as string;
  const holder = names.reduce<Json>((inner, name) => inner[name] as Json, copy);
  holder[last] = change(holder[last]);
  return copy;
}
