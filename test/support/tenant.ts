// An Organization in a real store with a real authority in front of it, and actors who sign for themselves.
// No HTTP: the pipeline suites hand signed bytes straight to `Authority.submit`.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { createAuthority } from '../../src/authority/authority.ts';
import type { Authority, Receipt, Submission } from '../../src/authority/ports.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.ts';
import type { OrganizationId } from '../../src/protocol/ids.ts';
import type { Principal } from '../../src/protocol/principals.ts';
import type { ErrorCode } from '../../src/protocol/refusals.ts';
import type { AuthorityStore, OrganizationRow } from '../../src/store/port.ts';
import type { KeyVault } from '../../src/platform/key-vault.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { checkSeal } from './sealing.ts';
import { verified } from './verified.ts';
import { CODING } from './work-contract.ts';

const HASH = `sha256:${'a'.repeat(64)}`;
export { CODING };

export interface ParsedEvent {
  eventId: string;
  kind: string;
  groupId?: string;
  sequence?: number;
  aggregateRevision?: number;
  payload: Record<string, unknown>;
}

export class Tenant {
  readonly store: AuthorityStore;
  readonly organization: OrganizationRow;
  readonly keys: Map<string, ActorKey>;
  readonly authority: Authority;
  readonly alarms: string[] = [];
  private readonly clock: () => number;
  private readonly scope: string;
  private way: Authority;

  private constructor(
    store: AuthorityStore,
    organization: OrganizationRow,
    keys: Map<string, ActorKey>,
    clock: () => number,
    scope: string,
  ) {
    this.store = store;
    this.organization = organization;
    this.keys = keys;
    this.clock = clock;
    this.scope = scope;
    this.authority = this.anotherAuthority(store);
    this.way = this.authority;
  }

  static async create(
    store: AuthorityStore,
    options: { clock?: () => number; policy?: Partial<Policy>; vault?: KeyVault; name?: string; scope?: string } = {},
  ) {
    const clock = options.clock ?? Date.now;
    const name = options.name ?? randomUUID().slice(0, 8);
    /** Before the ids of its principals; two Organizations can have the same. */
    const scope = options.scope ?? `urn:test:organization:${name}`;
    const service = (role: string): Principal => ({ type: 'service', id: `${scope}:service:${role}` });
    const organization: OrganizationRow = {
      organizationId: `urn:test:organization:${name}` as OrganizationId,
      slug: `org-${name}`,
      displayName: 'Test',
      createdAt: new Date(clock()).toISOString(),
      authority: service('authority'),
      identity: service('identity'),
      registrar: service('registrar'),
    };
    const services = [organization.authority, organization.identity, organization.registrar];
    const keys = new Map(services.map((principal) => [principal.id, generateActorKey(principal)]));
    const policy: Policy = {
      ...structuredClone(DEFAULT_POLICY),
      services: [
        {
          serviceId: organization.identity.id,
          kinds: ['ext.missionweaveprotocol.identity.session_open'],
          relay: false,
        },
        {
          serviceId: organization.registrar.id,
          kinds: ['ext.missionweaveprotocol.registry.agent_card_register'],
          relay: false,
        },
      ],
      ...options.policy,
    };
    const created = await store.organizations.create({
      organization,
      principals: services.map((principal) => ({ principal, displayName: principal.id })),
      bindings: [...keys.values()].map((key) => bindingOf(key)),
      // Only for processes that must open the keys by themselves.
      sealedKeys: [...keys.values()].flatMap(({ keyId, principal, seed }) => {
        const place = { organizationId: organization.organizationId, keyId };
        return options.vault ? [{ keyId, principal, sealed: options.vault.seal(seed, place) }] : [];
      }),
      policy,
    });
    expect(created).toMatchObject({ outcome: 'done' });
    return new Tenant(store, organization, keys, clock, scope);
  }

  /** From now on Commands go this way instead of straight to the authority. */
  submitThrough(way: Authority): void {
    this.way = way;
  }

  /** A second authority with caches of its own, as another process would have. */
  anotherAuthority(store: AuthorityStore): Authority {
    return createAuthority({
      store,
      signers: {
        signer: (_, keyId) => Promise.resolve([...this.keys.values()].find((key) => key.keyId === keyId)?.signer),
        signerOf: (_, principal) => Promise.resolve(this.keyOf(principal).signer),
      },
      checkSeal,
      alarm: (message, error) => this.alarms.push(`${message} ${error instanceof Error ? error.stack : ''}`),
    });
  }

  keyOf(principal: Principal): ActorKey {
    const key = this.keys.get(principal.id);
    if (!key) throw new Error(`no key: ${principal.id}`);
    return key;
  }

  async human(name: string): Promise<ActorKey> {
    return this.register({ type: 'human', id: `${this.scope}:human:${name}` });
  }

  /** Registered, and allowed by the policy to send these kinds. */
  async service(name: string, kinds: string[]): Promise<ActorKey> {
    const key = await this.register({ type: 'service', id: `${this.scope}:service:${name}` });
    await this.changePolicy(({ services }) => ({
      services: [...services, { serviceId: key.principal.id, kinds, relay: false }],
    }));
    return key;
  }

  async changePolicy(change: (policy: Policy) => Partial<Policy>): Promise<void> {
    const { organizations } = this.store;
    const { organizationId } = this.organization;
    const policy = await organizations.policy(organizationId);
    const changed = { ...policy, ...change(policy), version: policy.version + 1 };
    expect(await organizations.changeRegistry(organizationId, { policy: changed })).toMatchObject({ outcome: 'done' });
  }

  /** Registered, with a Card that offers the capabilities, and with session 1 open. */
  async agent(name: string, capabilities = [CODING]): Promise<ActorKey> {
    const key = await this.register({ type: 'agent', id: `${this.scope}:agent:${name}` });
    await this.registerCard(key, 1, capabilities);
    await this.openSession(key);
    return key;
  }

  private async register(principal: Principal): Promise<ActorKey> {
    const key = generateActorKey(principal);
    const outcome = await this.store.organizations.changeRegistry(this.organization.organizationId, {
      principals: [{ principal, displayName: principal.id }],
      bindings: [bindingOf(key)],
    });
    expect(outcome).toMatchObject({ outcome: 'done' });
    this.keys.set(principal.id, key);
    return key;
  }

  async registerCard(agent: ActorKey, cardVersion: number, capabilities = [CODING], more: object = {}) {
    const registrar = this.keyOf(this.organization.registrar);
    const card = this.card(agent, cardVersion, capabilities, more);
    const draft = { kind: 'ext.missionweaveprotocol.registry.agent_card_register' as const, payload: { card } };
    return this.accept(registrar, draft);
  }

  /** As the registrar signs it. */
  card(agent: ActorKey, cardVersion: number, capabilities = [CODING], more: object = {}) {
    return signDocument(
      'agent-card',
      {
        agentId: agent.principal.id,
        organizationId: this.organization.organizationId,
        cardVersion,
        displayName: 'An Agent',
        owner: this.organization.registrar,
        status: 'active',
        protocolVersions: ['0.1'],
        endpoints: [{ transport: 'wss', uri: 'wss://agents.example/ws' }],
        publicKeys: [{ keyId: agent.keyId, algorithm: 'Ed25519', publicKey: agent.publicKey, validFrom: VALID_FROM }],
        capabilities: capabilities.map((capability) => ({
          ...capability,
          inputSchema: 'https://schemas.example/in',
          inputSchemaHash: HASH,
          outputSchema: 'https://schemas.example/out',
          outputSchemaHash: HASH,
          constraints: {},
          verifiedEvidence: ['urn:test:evidence:1'],
        })),
        maxConcurrency: 4,
        issuedAt: this.now(),
        ...more,
      },
      this.keyOf(this.organization.registrar).signer,
    ).document;
  }

  async openSession(agent: ActorKey) {
    const identity = this.keyOf(this.organization.identity);
    const payload = { agentId: agent.principal.id };
    return this.accept(identity, { kind: 'ext.missionweaveprotocol.identity.session_open', payload });
  }

  now(): string {
    return new Date(this.clock()).toISOString();
  }

  sign(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}): Uint8Array {
    return signCommand(key, draft, epochs, this.clock()).bytes;
  }

  submitBytes(bytes: Uint8Array, caller: Principal, authority = this.way): Promise<Submission> {
    return authority.submit(this.organization, bytes, { principal: caller });
  }

  submit(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}): Promise<Submission> {
    return this.submitBytes(this.sign(key, draft, epochs), key.principal);
  }

  /** Its receipt and Events; fails the test with the refusal when it is refused. */
  async accept(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}) {
    const submission = await this.submit(key, draft, epochs);
    if (!submission.accepted) {
      throw new Error(
        `${draft.kind}: ${submission.refusal.code} ${submission.refusal.message} ${this.alarms.join('\n')}`,
      );
    }
    const receipt = JSON.parse(submission.receipt) as Receipt;
    return { receipt, events: submission.events.map((body) => JSON.parse(body) as ParsedEvent) };
  }

  async outcome(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}): Promise<ErrorCode | 'accepted'> {
    const submission = await this.submit(key, draft, epochs);
    return submission.accepted ? 'accepted' : submission.refusal.code;
  }

  /** Every stream that the test left behind is proven again from what was signed. Answers how many Events there were. */
  async expectReplayEquivalence(): Promise<number> {
    const { events, faults } = await verified(this.store, this.organization);
    expect(faults).toEqual([]);
    return events;
  }
}

const VALID_FROM = '2020-01-01T00:00:00Z';

function bindingOf(key: ActorKey) {
  const { keyId, principal, publicKey } = key;
  return { keyId, principal, algorithm: 'Ed25519' as const, publicKey, validFrom: VALID_FROM };
}
