// A tenant whose every Command and read goes over the HTTP API of one service, and all that this service answered it.
import { freshlyAccepted } from '../../../src/delivery/rendered.ts';
import type { createApp } from '../../../src/http/app.ts';
import type { KeyVault } from '../../../src/platform/key-vault.ts';
import type { Submission } from '../../../src/authority/ports.ts';
import type { ProtocolError } from '../../../src/protocol/documents/error.ts';
import { refuse } from '../../../src/protocol/refusals.ts';
import type { AuthorityStore } from '../../../src/store/port.ts';
import { answerChallenge, newClientNonce } from '../../../src/worker/challenge.ts';
import type { ActorKey } from '../../../src/worker/keys.ts';
import { Tenant } from '../../support/tenant.ts';

export const OPERATOR_TOKEN = 'operator-token-of-two-tenants';

export type App = ReturnType<typeof createApp>;

export interface Stage {
  app: App;
  store: AuthorityStore;
  vault: KeyVault;
  clock: () => number;
}

/** Before each request. */
type OnRequest = (request: string) => void | Promise<void>;

/** One request, and every byte of its answer. */
export interface Exchange {
  request: string;
  status: number;
  headers: [string, string][];
  text: string;
}

export class RecordedTenant {
  readonly exchanges: Exchange[] = [];
  readonly tenant: Tenant;
  readonly app: App;
  private readonly onRequest: OnRequest;
  private readonly tokens = new Map<string, string>();

  private constructor(app: App, tenant: Tenant, onRequest: OnRequest) {
    this.app = app;
    this.tenant = tenant;
    this.onRequest = onRequest;
    tenant.submitThrough({ submit: (_, bytes, { principal }) => this.submit(bytes, principal.id) });
  }

  /** `scope`: before the ids of principals, which two tenants can have in common. */
  static async create(
    { app, store, vault, clock }: Stage,
    name: string,
    onRequest: OnRequest = () => {},
  ): Promise<RecordedTenant> {
    const tenant = await Tenant.create(store, { vault, clock, name, scope: 'urn:test:same' });
    return new RecordedTenant(app, tenant, onRequest);
  }

  async ask(method: string, path: string, { token, body, contentType = 'application/json' }: Asked = {}) {
    await this.onRequest(`${method} ${path}`);
    const content = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
    const response = await this.app.request(path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(content !== undefined && { 'content-type': contentType }),
      },
      ...(content !== undefined && { body: content as string }),
    });
    const exchange = {
      request: `${method} ${path}`,
      status: response.status,
      headers: [...response.headers],
      text: await response.text(),
    };
    this.exchanges.push(exchange);
    return exchange;
  }

  org(method: string, below: string, asked: Asked = {}): Promise<Exchange> {
    return this.ask(method, `/v1/orgs/${this.tenant.organization.slug}${below}`, asked);
  }

  operator(method: string, below: string, body?: object): Promise<Exchange> {
    const path = `/v1/operator/organizations/${this.tenant.organization.slug}${below}`;
    return this.ask(method, path, { token: OPERATOR_TOKEN, ...(body && { body }) });
  }

  async logIn(key: ActorKey, more: object = {}): Promise<Exchange> {
    const { principal, keyId } = key;
    const clientNonce = newClientNonce();
    const asked = await this.org('POST', '/auth/challenge', { body: { principal, keyId, clientNonce } });
    const { challenge } = JSON.parse(asked.text) as { challenge: string };
    const challengeSignature = answerChallenge(key, clientNonce, challenge);
    return this.org('POST', '/auth/token', { body: { principal, challenge, challengeSignature, ...more } });
  }

  async tokenOf(key: ActorKey): Promise<string> {
    const known = this.tokens.get(key.keyId);
    if (known !== undefined) return known;
    const { token } = JSON.parse((await this.logIn(key)).text) as { token: string };
    this.tokens.set(key.keyId, token);
    return token;
  }

  private async submit(bytes: Uint8Array, caller: string): Promise<Submission> {
    const key = this.tenant.keys.get(caller);
    if (!key) throw new Error(`no key: ${caller}`);
    const { status, text } = await this.org('POST', '/commands', { token: await this.tokenOf(key), body: bytes });
    if (status === 200) {
      const { receipt, duplicate } = JSON.parse(text) as { receipt: object; duplicate: boolean };
      return {
        accepted: true,
        receipt: JSON.stringify(receipt),
        events: eventsIn(text).map(freshlyAccepted),
        duplicate,
      };
    }
    const { code, message, retryAfterMs, occurredAt } = JSON.parse(text) as ProtocolError;
    const refusal = refuse(code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
    return { accepted: false, refusal, occurredAt };
  }
}

interface Asked {
  token?: string;
  body?: Uint8Array | object;
  contentType?: string;
}

function eventsIn(text: string): string[] {
  return (JSON.parse(text) as { events: object[] }).events.map((event) => JSON.stringify(event));
}
