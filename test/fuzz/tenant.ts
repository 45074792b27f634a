// An Organization made over the service's own API, its people with keys and tokens, and the Commands that it accepted.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import type { Receipt } from '../../src/authority/ports.ts';
import type { Policy, RequestRates } from '../../src/domain/policy.ts';
import { answerChallenge, newClientNonce } from '../../src/worker/challenge.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import type { ParsedEvent } from '../support/tenant.ts';
import type { MissionTenant } from '../support/mission.ts';
import type { ErrorCode } from '../../src/protocol/refusals.ts';
import { agentCard } from '../transport/cards.ts';
import { CONTENT_MARK, OPERATOR_TOKEN, type Host } from './host.ts';

const ORIGIN = 'http://fuzz.test';
/** Milliseconds after which a token is replaced: well before its quarter of an hour is over. */
const TOKEN_AGE_MAXIMUM = 300_000;
/** Bad signatures cost twenty, and there are many. */
const RATE = { perSecond: 100_000, burst: 1_000_000 };
const SHARED = { organization: RATE, actor: RATE };
const RATES: RequestRates = { commands: SHARED, reads: SHARED, logins: SHARED };
/** The most that a policy may allow: what is slowed down is not tested. */
const LIMITS = {
  messagesPerMinute: 100_000,
  proposalsPerMinute: 100_000,
  queuedWorkItems: 5_000,
  activeWorkItems: 5_000,
};
/** base64url */
export const LOGIN_NONCE = 'abcdefgh';
const SERVICE_KINDS = [
  'ext.missionweaveprotocol.identity.session_open',
  'ext.missionweaveprotocol.registry.agent_card_register',
  'mission.cancel',
  'ext.missionweaveprotocol.core.group_archive',
  'ext.mwp.retention.event_erase',
];

export interface AcceptedCommand {
  kind: string;
  actor: ActorKey;
  bytes: Uint8Array;
}

export class FuzzTenant implements MissionTenant {
  readonly slug: string;
  /** What the service accepted, in order. */
  readonly accepted: AcceptedCommand[] = [];
  readonly keys: ActorKey[] = [];
  /** A service of the Organization that may register Cards, open sessions, cancel Missions and relay. */
  readonly service: ActorKey;
  organizationId = '';
  /** Of the one content that was put; '' before. */
  contentHash = '';
  private readonly host: Host;
  private readonly tokens = new Map<string, { token: string; at: number }>();

  private constructor(host: Host, slug: string) {
    this.host = host;
    this.slug = slug;
    this.service = generateActorKey({ type: 'service', id: `urn:fuzz:${slug}:service:relay` });
  }

  static async create(host: Host, slug: string): Promise<FuzzTenant> {
    const tenant = new FuzzTenant(host, slug);
    const made = await tenant.operator('POST', '/organizations', { slug, displayName: `Tenant ${slug}` });
    tenant.organizationId = (made as { organizationId: string }).organizationId;
    await tenant.register(tenant.service);
    const policy = (await tenant.operator('GET', `/organizations/${slug}/policy`)) as Policy;
    const rights = { serviceId: tenant.service.principal.id, kinds: SERVICE_KINDS, relay: true };
    await tenant.operator('PUT', `/organizations/${slug}/policy`, {
      ...policy,
      limits: { ...policy.limits, ...LIMITS },
      rates: RATES,
      services: [...policy.services, rights],
    });
    return tenant;
  }

  now(): string {
    return new Date().toISOString();
  }

  async human(name: string): Promise<ActorKey> {
    const key = generateActorKey({ type: 'human', id: `urn:fuzz:${this.slug}:human:${name}` });
    await this.register(key);
    return key;
  }

  /** With a Card and session 1 open. */
  async agent(name: string): Promise<ActorKey> {
    const key = generateActorKey({ type: 'agent', id: `urn:fuzz:${this.slug}:agent:${name}` });
    await this.operator('POST', `/organizations/${this.slug}/agents`, {
      card: agentCard(key, { maxConcurrency: 100 }),
    });
    this.keys.push(key);
    await this.logIn(key, true);
    return key;
  }

  private async register(key: ActorKey): Promise<void> {
    const { principal, keyId, publicKey } = key;
    const body = { principal, displayName: principal.id, keys: [{ keyId, publicKey }] };
    await this.operator('POST', `/organizations/${this.slug}/principals`, body);
    this.keys.push(key);
  }

  async tokenOf(key: ActorKey): Promise<string> {
    const known = this.tokens.get(key.keyId);
    if (known && Date.now() - known.at < TOKEN_AGE_MAXIMUM) return known.token;
    return this.logIn(key, false);
  }

  /** The token that `tokenOf` last gave; for those that make cases and cannot wait. */
  currentToken(key: ActorKey): string {
    return this.tokens.get(key.keyId)?.token ?? 'none';
  }

  /** Who is forgotten needs no new token, and nothing that was accepted until now is sent again. */
  forget(keys: readonly ActorKey[]): void {
    for (const key of keys) this.tokens.delete(key.keyId);
    this.keys.splice(0, this.keys.length, ...this.keys.filter((key) => !keys.includes(key)));
    this.accepted.splice(0);
  }

  async freshen(): Promise<void> {
    for (const key of this.keys) if (this.tokens.has(key.keyId)) await this.tokenOf(key);
  }

  private async logIn(key: ActorKey, openSession: boolean): Promise<string> {
    const { principal, keyId } = key;
    const clientNonce = newClientNonce();
    const asked = await this.call('POST', '/auth/challenge', { body: { principal, keyId, clientNonce } });
    const { challenge } = asked as { challenge: string };
    const challengeSignature = answerChallenge(key, clientNonce, challenge);
    const body = { principal, challenge, challengeSignature, ...(openSession && { openSession }) };
    const { token } = (await this.call('POST', '/auth/token', { body })) as { token: string };
    this.tokens.set(keyId, { token, at: Date.now() });
    return token;
  }

  /** For who answers it later, with the nonce that `LOGIN_NONCE` is. */
  async challengeOf(key: ActorKey): Promise<{ challenge: string }> {
    const { principal, keyId } = key;
    const body = { principal, keyId, clientNonce: LOGIN_NONCE };
    return (await this.call('POST', '/auth/challenge', { body })) as { challenge: string };
  }

  /** For who asks for it; it stays. */
  async putContent(key: ActorKey): Promise<void> {
    const bytes = new Uint8Array(Buffer.from(`${CONTENT_MARK}, and ${this.slug}`));
    const hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const asked = { token: await this.tokenOf(key), bytes, contentType: 'application/octet-stream' };
    await this.call('PUT', `/content/${hash}`, asked);
    this.contentHash = hash;
  }

  sign(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}): Uint8Array {
    return signCommand(key, draft, epochs).bytes;
  }

  async accept(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}) {
    const bytes = this.sign(key, draft, epochs);
    const answer = await this.call('POST', '/commands', { token: await this.tokenOf(key), bytes });
    this.accepted.push({ kind: draft.kind, actor: key, bytes });
    return answer as { receipt: Receipt; events: ParsedEvent[] };
  }

  outcome(): Promise<ErrorCode | 'accepted'> {
    return Promise.reject(new Error('what is played here must be accepted'));
  }

  read(key: ActorKey, path: string): Promise<unknown> {
    return this.tokenOf(key).then((token) => this.call('GET', path, { token }));
  }

  /** The Group's head, signed. */
  async snapshotOf(key: ActorKey, groupId: string): Promise<object> {
    const path = `/groups/${encodeURIComponent(groupId)}/snapshots`;
    const answer = await this.call('POST', path, { token: await this.tokenOf(key) });
    return (answer as { snapshot: object }).snapshot;
  }

  operator(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.ask(method, `/v1/operator${path}`, { token: OPERATOR_TOKEN, body });
  }

  private call(method: string, path: string, asked: Asked): Promise<unknown> {
    return this.ask(method, `/v1/orgs/${this.slug}${path}`, asked);
  }

  private async ask(
    method: string,
    path: string,
    { token, body, bytes, contentType = 'application/json' }: Asked,
  ): Promise<unknown> {
    const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await this.host.fetch(
      new Request(`${ORIGIN}${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(content !== undefined && { 'content-type': contentType }),
        },
        ...(content !== undefined && { body: content as string }),
      }),
    );
    const text = await response.text();
    assert(response.ok, `preparing, ${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}

interface Asked {
  token?: string;
  body?: unknown;
  bytes?: Uint8Array;
  contentType?: string;
}
