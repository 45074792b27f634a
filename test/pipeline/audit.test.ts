// Every way in which a Command or a document inside it is refused leaves one protected record, with the first failing
// stage, its names and its hashes; what is accepted leaves none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditRow } from '../../src/store/port.ts';
import { signDocument, signingHash, type Signer } from '../../src/trust/signing.ts';
import { sha256Label } from '../../src/wire/canonical.ts';
import type { CommandDraft } from '../../src/worker/commands.ts';
import { signApproval, signArtifact } from '../../src/worker/documents.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { id, Mission, type StartedItem } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { CODING, Tenant } from '../support/tenant.ts';

const CARD = 'ext.missionweaveprotocol.registry.agent_card_register';
const VALID_FROM = '2020-01-01T00:00:00Z';

interface Attempt {
  bytes: Uint8Array;
  /** Who brings it; the owner otherwise. */
  caller?: ActorKey;
}

type Expected = Partial<AuditRow>;
/** Of what passed stage 2, and of what did not. */
type Names = 'names' | 'no names';

describe.each(STORES)('the record of a refusal on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let owner: ActorKey;
  let worker: ActorKey;
  let mission: Mission;
  let item: StartedItem;
  let time = Date.parse('2026-11-29T12:00:00.000Z');
  const clock = () => time;

  beforeAll(async () => {
    opened = await open({ clock });
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store, { clock });
    owner = await tenant.human('olga');
    worker = await tenant.agent('ada');
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    await mission.join(worker);
    item = await mission.active(worker);
  });
  afterAll(async () => {
    await behind.close();
    await opened.close();
  });

  const organizationId = () => tenant.organization.organizationId;
  const records = () => opened.store.read(organizationId(), (reader) => reader.audit(0, 200));
  const cancel = (reason = 'The market moved'): CommandDraft => mission.draft('mission.cancel', { reason });
  const signed = (draft = cancel(), key = owner) => tenant.sign(key, draft, mission.epochsOf(key));
  /** Accepted as it is, of other content each time. */
  const authorization = (more: Partial<CommandDraft> = {}) => {
    const payload = { workItemId: id(), contract: mission.contract() };
    return signed(mission.draft('work.authorize', payload, more), mission.coordinator);
  };
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
  const changed = (from: string | RegExp, to: string, bytes = signed()) => {
    const result = text(bytes).replace(from, to);
    expect(result).not.toBe(text(bytes));
    return Buffer.from(result);
  };
  /** A further key of a registered principal. */
  async function anotherKey({ principal }: ActorKey): Promise<ActorKey> {
    const key = generateActorKey(principal);
    const binding = { keyId: key.keyId, principal, algorithm: 'Ed25519', publicKey: key.publicKey } as const;
    await opened.store.organizations.changeRegistry(organizationId(), {
      bindings: [{ ...binding, validFrom: VALID_FROM }],
    });
    return key;
  }
  async function endKey({ keyId }: ActorKey): Promise<void> {
    const recordedAt = tenant.now();
    await opened.store.organizations.changeRegistry(organizationId(), {
      validity: [{ keyId, recordedAt, revokedAt: recordedAt }],
    });
  }

  const artifact = (content: string) =>
    signArtifact(worker, {
      content,
      producer: { agentCardVersion: 1, capabilities: [CODING] },
      missionId: mission.missionId,
      groupId: mission.groupId,
      workItemId: item.workItemId,
      mediaType: 'text/plain',
      schemaUri: 'https://schemas.example/code',
      createdAt: tenant.now(),
    });
  const publishing = (document: object): Attempt => {
    const { ownershipEpoch, executionLeaseId } = item;
    const draft = mission.draft('artifact.publish', { artifact: document, ownershipEpoch, executionLeaseId });
    return { bytes: signed(draft, worker), caller: worker };
  };
  const approving = (approver: ActorKey) =>
    signApproval(approver, {
      kind: 'mission_final',
      decision: 'approved',
      missionId: mission.missionId,
      groupId: mission.groupId,
      missionRevision: 1,
      artifactHashes: [`sha256:${'b'.repeat(64)}`],
      acceptancePolicyVersion: '1.0.0',
      comments: '',
      conditions: [],
      occurredAt: tenant.now(),
    });
  const card = () => {
    const registrar = tenant.keyOf(tenant.organization.registrar);
    const hash = `sha256:${'a'.repeat(64)}`;
    const unsigned = {
      agentId: worker.principal.id,
      organizationId: organizationId(),
      cardVersion: 9,
      displayName: 'Ada',
      owner: owner.principal,
      status: 'active' as const,
      protocolVersions: ['0.1' as const],
      endpoints: [{ transport: 'wss' as const, uri: 'wss://agents.example/ws' }],
      publicKeys: [
        { keyId: worker.keyId, algorithm: 'Ed25519' as const, publicKey: worker.publicKey, validFrom: VALID_FROM },
      ],
      capabilities: [
        {
          ...CODING,
          inputSchema: 'https://schemas.example/in',
          inputSchemaHash: hash,
          outputSchema: 'https://schemas.example/out',
          outputSchemaHash: hash,
          constraints: {},
          verifiedEvidence: ['urn:test:evidence:1'],
        },
      ],
      maxConcurrency: 4,
      issuedAt: tenant.now(),
    };
    return signDocument('agent-card', unsigned, registrar.signer).document;
  };
  const registering = (document: object): Attempt => {
    const caller = tenant.keyOf(tenant.organization.registrar);
    return { bytes: tenant.sign(caller, { kind: CARD, payload: { card: document } }), caller };
  };

  const UNBELIEVED = { code: 'AUTH_INVALID_SIGNATURE' };
  const cases: [string, () => Attempt | Promise<Attempt>, Expected, Names][] = [
    [
      'MWP-SDV-015b: bytes that are no JSON',
      () => ({ bytes: Buffer.from('{') }),
      { stage: 'parse', reason: 'invalid-json', code: 'PROTOCOL_VIOLATION' },
      'no names',
    ],
    [
      'MWP-SDV-015c: another algorithm',
      () => ({ bytes: changed('"Ed25519"', '"ES256"') }),
      { stage: 'schema', code: 'SCHEMA_VALIDATION_FAILED' },
      'names',
    ],
    [
      'MWP-SDV-015c: no signature',
      () => ({ bytes: changed(/"signature":\{[^}]*\}/, '"signature":{}') }),
      { stage: 'schema', code: 'SCHEMA_VALIDATION_FAILED' },
      'names',
    ],
    [
      'another version',
      () => ({ bytes: changed('"protocolVersion":"0.1"', '"protocolVersion":"0.2"') }),
      { stage: 'schema', code: 'UNSUPPORTED_VERSION' },
      'names',
    ],
    [
      'MWP-SDV-015d: createdAt that differs',
      () => ({ bytes: changed(/"createdAt":"2026/, '"createdAt":"2025') }),
      { ...UNBELIEVED, stage: 'signature-envelope', reason: 'created-at-differs-from-protected-time' },
      'names',
    ],
    [
      'MWP-SDV-011: an unknown key',
      () => ({ bytes: tenant.sign(generateActorKey(owner.principal), cancel(), mission.epochsOf(owner)) }),
      { ...UNBELIEVED, stage: 'key-resolution', reason: 'key-unknown' },
      'names',
    ],
    [
      'MWP-SDV-013: a key of somebody else',
      () => ({ bytes: tenant.sign({ ...worker, principal: owner.principal }, cancel(), mission.epochsOf(owner)) }),
      { ...UNBELIEVED, stage: 'key-resolution', reason: 'key-of-another-principal' },
      'names',
    ],
    [
      'MWP-SDV-015f: a number that is none',
      () => ({ bytes: changed('"The market moved"', '1e400') }),
      { stage: 'canonicalization', reason: 'number-outside-binary64', code: 'PROTOCOL_VIOLATION' },
      'names',
    ],
    [
      'MWP-SDV-015f: a changed word',
      () => ({ bytes: changed('market', 'weather') }),
      { ...UNBELIEVED, stage: 'signature', reason: 'equation-fails' },
      'names',
    ],
    [
      'MWP-ADM-013: too old',
      () => {
        const bytes = signed();
        time += 400_000;
        return { bytes };
      },
      { ...UNBELIEVED, stage: 'admission', reason: 'issued-too-long-ago' },
      'names',
    ],
    [
      'MWP-ADM-010b, MWP-ADM-012: a key that was revoked before acceptance',
      async () => {
        const key = await anotherKey(owner);
        const bytes = tenant.sign(key, cancel(), mission.epochsOf(owner));
        time += 1_000;
        await endKey(key);
        time += 1_000;
        return { bytes };
      },
      { ...UNBELIEVED, stage: 'admission' },
      'names',
    ],
    [
      'MWP-EVT-003: an accepted Command once more under another key',
      async () => {
        const first = authorization();
        expect((await tenant.submitBytes(first, mission.coordinator.principal)).accepted).toBe(true);
        const { signature: _signature, ...unsigned } = JSON.parse(text(first)) as { signature: object };
        const { signer } = await anotherKey(mission.coordinator);
        const bytes = Buffer.from(signDocument('command', unsigned as never, signer).text);
        return { bytes, caller: mission.coordinator };
      },
      { ...UNBELIEVED, stage: 'admission', reason: 'record-conflict' },
      'names',
    ],
    [
      'an Action ID with other content',
      async () => {
        const actionId = id();
        const first = authorization({ actionId });
        expect((await tenant.submitBytes(first, mission.coordinator.principal)).accepted).toBe(true);
        return { bytes: authorization({ actionId }), caller: mission.coordinator };
      },
      { stage: 'domain', code: 'ACTION_ID_COLLISION' },
      'names',
    ],
    [
      'a kind that is not executed here',
      () => ({ bytes: signed(mission.draft('ext.example.demo.nothing', {})) }),
      { stage: 'domain', code: 'INVALID_COMMAND' },
      'names',
    ],
    [
      'somebody else’s Command',
      () => ({ bytes: signed(), caller: worker }),
      { stage: 'domain', code: 'AUTH_FORBIDDEN' },
      'names',
    ],
    [
      'a service that may not relay',
      () => ({ bytes: signed(), caller: tenant.keyOf(tenant.organization.identity) }),
      { stage: 'domain', code: 'AUTH_FORBIDDEN' },
      'names',
    ],
    [
      'a payload of the wrong shape',
      () => ({ bytes: signed(mission.draft('mission.cancel', {})) }),
      { stage: 'domain', code: 'INVALID_COMMAND' },
      'names',
    ],
    [
      'a Group that is none',
      () => ({ bytes: signed({ ...cancel(), groupId: id() }) }),
      { stage: 'domain', code: 'GROUP_NOT_FOUND' },
      'names',
    ],
    [
      'what the rules do not allow',
      () => ({ bytes: signed(cancel(), worker), caller: worker }),
      { stage: 'domain', code: 'AUTH_FORBIDDEN' },
      'names',
    ],
    [
      'a document inside that fails its schema',
      () => publishing({ ...artifact('a'), mediaType: 7 }),
      {
        stage: 'schema',
        code: 'SCHEMA_VALIDATION_FAILED',
        documentKind: 'artifact',
        documentPath: '/payload/artifact',
      },
      'names',
    ],
    [
      'MWP-ADM-005: a document inside whose signature is wrong',
      () => publishing({ ...artifact('b'), mediaType: 'text/html' }),
      { ...UNBELIEVED, stage: 'signature', documentKind: 'artifact', documentPath: '/payload/artifact' },
      'names',
    ],
    [
      'MWP-ADM-005: a document inside that is not admitted',
      async () => {
        const key = await anotherKey(owner);
        const approval = approving(key);
        time += 1_000;
        await endKey(key);
        time += 1_000;
        return { bytes: signed(mission.draft('mission.approve', { approval })) };
      },
      { ...UNBELIEVED, stage: 'admission', documentKind: 'approval', documentPath: '/payload/approval' },
      'names',
    ],
    [
      'an Agent Card whose signature is wrong',
      () => registering({ ...card(), displayName: 'Eve' }),
      { ...UNBELIEVED, stage: 'signature', documentKind: 'agent-card', documentPath: '/payload/card' },
      'names',
    ],
    [
      'an Agent Card of a version that is no news',
      () =>
        registering({ ...signDocument('agent-card', { ...unsignedOf(card()), cardVersion: 1 }, registrar()).document }),
      { stage: 'domain', code: 'REVISION_CONFLICT' },
      'names',
    ],
  ];
  const registrar = (): Signer => tenant.keyOf(tenant.organization.registrar).signer;
  const unsignedOf = <Document extends { signature: unknown }>({ signature: _, ...rest }: Document) => rest;

  it.each(cases)('%s leaves one, with its first failing stage', async (_, attempt, expected, names) => {
    const { bytes, caller = owner } = await attempt();
    const before = (await records()).at(-1)?.id ?? 0;
    const answer = await tenant.submitBytes(bytes, caller.principal);
    if (answer.accepted) throw new Error('accepted');
    expect(tenant.alarms).toEqual([]);
    const left = (await records()).filter((row) => row.id > before);
    expect(left).toHaveLength(1);
    const [row] = left as [AuditRow];
    expect(row).toMatchObject(expected);
    expect(row).toMatchObject({
      code: answer.refusal.code,
      caller: caller.principal,
      receivedHash: sha256Label(bytes),
      recordedAt: tenant.now(),
    });
    if (names === 'no names') {
      expect(row).not.toHaveProperty('actionId');
      return;
    }
    const command = JSON.parse(text(bytes)) as Record<string, unknown> & { payload: Record<string, unknown> };
    const { actor, actionId, groupId } = command;
    expect(row).toMatchObject({ actor, actionId, ...(groupId !== undefined && { groupId }) });
    const keyId = (command['signature'] as { keyId?: string }).keyId;
    expect(row.keyId).toBe(keyId);
    const isHashed = row.documentKind !== undefined || !['schema', 'canonicalization'].includes(row.stage);
    expect(row.signingHash).toBe(isHashed ? signingHash(command) : undefined);
    const document = command.payload[row.documentPath?.slice('/payload/'.length) ?? ''] as
      { signature: { keyId: string } } | undefined;
    expect(row.documentKeyId).toBe(document?.signature.keyId);
    const isCanonical = document !== undefined && row.stage !== 'schema';
    expect(row.documentHash).toBe(isCanonical ? signingHash(document) : undefined);
  });

  it('what is accepted, and the same once more, leave none', async () => {
    const before = await records();
    const bytes = authorization();
    for (const duplicate of [false, true]) {
      const answer = await tenant.submitBytes(bytes, mission.coordinator.principal);
      expect(answer).toMatchObject({ accepted: true, duplicate });
    }
    expect(await records()).toEqual(before);
  });
});
