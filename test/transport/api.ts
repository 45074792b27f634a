// The HTTP application over a Tenant's store and authority, asked without a network; callers that log in as clients do.
import { createHash } from 'node:crypto';
import type { AuditBlobs } from '../../src/archive/audit/ports.ts';
import type { SnapshotBlobs } from '../../src/archive/snapshot/ports.ts';
import { createApp } from '../../src/http/app.ts';
import type { Turns } from '../../src/http/turns.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { ProtocolError } from '../../src/protocol/documents/error.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import type { BlobStore } from '../../src/store/port/blobs.ts';
import type { UploadQuota } from '../../src/store/port/uploads.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { answerChallenge, newClientNonce } from '../../src/worker/challenge.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { temporaryBlobs } from '../support/temporary-blobs.ts';
import type { Tenant } from '../support/tenant.ts';
import type { Body, Shown } from './answers.ts';
import { checkDeclared } from './declared.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Body;
}

export interface Asked {
  token?: string;
  body?: unknown;
  bytes?: Uint8Array;
  contentType?: string;
  headers?: Record<string, string>;
}

export interface ApiOptions {
  /** A second process' store. */
  store?: AuthorityStore;
  vault?: KeyVault;
  clock?: () => number;
  turns?: Turns;
  monotonic?: () => number;
  operatorToken?: string;
  blobs?: BlobStore;
  snapshotBlobs?: SnapshotBlobs;
  auditBlobs?: AuditBlobs;
  contentBytesMaximum?: number;
  uploadQuota?: UploadQuota;
}

const CONTENT_BYTES = 1_048_576;

export class Api {
  readonly app: ReturnType<typeof createApp>;
  readonly vault: KeyVault;
  readonly blobs: BlobStore;
  readonly snapshotBlobs: SnapshotBlobs;
  readonly auditBlobs: AuditBlobs;
  /** Lines that the service logged. */
  readonly log: string[] = [];
  private readonly slug: string;
  private readonly tokens = new Map<string, string>();

  constructor(tenant: Tenant, options: ApiOptions = {}) {
    const store = options.store ?? tenant.store;
    this.vault = options.vault ?? new KeyVault(Buffer.alloc(32, 7));
    this.blobs = options.blobs ?? temporaryBlobs();
    this.snapshotBlobs = options.snapshotBlobs ?? temporaryBlobs();
    this.auditBlobs = options.auditBlobs ?? temporaryBlobs();
    this.slug = tenant.organization.slug;
    this.app = createApp({
      store,
      blobs: this.blobs,
      snapshotBlobs: this.snapshotBlobs,
      auditBlobs: this.auditBlobs,
      contentBytesMaximum: options.contentBytesMaximum ?? CONTENT_BYTES,
      ...(options.uploadQuota && { uploadQuota: options.uploadQuota }),
      authority: options.store ? tenant.anotherAuthority(store) : tenant.authority,
      signers: { signerOf: (_, service) => Promise.resolve(tenant.keyOf(service).signer) },
      vault: this.vault,
      logger: createLogger('trace', { write: (line) => void this.log.push(line) }),
      ...(options.clock && { clock: options.clock }),
      ...(options.turns && { turns: options.turns }),
      ...(options.monotonic && { monotonic: options.monotonic, heldMilliseconds: 0 }),
      ...(options.operatorToken !== undefined && { operatorToken: options.operatorToken }),
    });
  }

  async ask(method: string, path: string, asked: Asked = {}): Promise<Answer> {
    const { token, body, bytes } = asked;
    const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await this.app.request(path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(content !== undefined && { 'content-type': asked.contentType ?? 'application/json' }),
        ...asked.headers,
      },
      ...(content !== undefined && { body: content as string }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, json: parsed(text) };
    checkDeclared(this.app, method, path, answer);
    return answer;
  }

  /** Below the Organization. */
  org(method: string, path: string, asked: Asked = {}): Promise<Answer> {
    return this.ask(method, `/v1/orgs/${this.slug}${path}`, asked);
  }

  /** Both steps of a login; the answer of the second. `alter` may spoil what is sent. */
  async logIn(key: ActorKey, openSession = false, alter: (body: LoginBody) => LoginBody = (body) => body) {
    const { principal, keyId } = key;
    const clientNonce = newClientNonce();
    const asked = await this.org('POST', '/auth/challenge', { body: { principal, keyId, clientNonce } });
    const { challenge } = asked.json;
    const challengeSignature = answerChallenge(key, clientNonce, challenge) ?? encodeBase64url(new Uint8Array(64));
    const body = alter({ principal, challenge, challengeSignature, ...(openSession && { openSession }) });
    return this.org('POST', '/auth/token', { body });
  }

  async tokenOf(key: ActorKey): Promise<string> {
    const known = this.tokens.get(key.keyId);
    if (known !== undefined) return known;
    const { token } = (await this.logIn(key)).json;
    this.tokens.set(key.keyId, token);
    return token;
  }

  async get(key: ActorKey, path: string): Promise<Answer> {
    return this.org('GET', path, { token: await this.tokenOf(key) });
  }

  async submit(key: ActorKey, bytes: Uint8Array): Promise<Answer> {
    return this.org('POST', '/commands', { token: await this.tokenOf(key), bytes });
  }

  async put(key: ActorKey, contentHash: string, bytes: Uint8Array, headers?: Record<string, string>): Promise<Answer> {
    const token = await this.tokenOf(key);
    const length = { 'content-length': String(bytes.byteLength), ...headers };
    const asked = { token, bytes, contentType: 'application/octet-stream', headers: length };
    return this.org('PUT', `/content/${contentHash}`, asked);
  }

  /** All items of a list, page by page. */
  async all(key: ActorKey, path: string, limit = 200): Promise<Shown[]> {
    const items: Shown[] = [];
    for (let after = ''; ;) {
      const page = await this.get(key, `${path}?limit=${limit}${after}`);
      if (page.status !== 200) throw new Error(`${path}: ${page.text}`);
      const { items: found, next } = page.json;
      items.push(...found);
      if (next === undefined) return items;
      after = `&after=${encodeURIComponent(next)}`;
    }
  }
}

export interface LoginBody {
  principal: unknown;
  challenge: string;
  challengeSignature: string;
  openSession?: boolean;
}

/** The error document, checked against its schema. */
export function errorIn(answer: Answer): ProtocolError {
  const check = checkDocument('error', answer.json);
  if (!check.valid) throw new Error(`no error document: ${check.fault} ${answer.text}`);
  return check.document;
}

/** `403 AUTH_FORBIDDEN` */
export function refusalIn(answer: Answer): string {
  return `${answer.status} ${errorIn(answer).code}`;
}

export const path = encodeURIComponent;

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {} as Body; // an answer that is no JSON fails whatever the test looks at
  }
}

/** Puts a content as this member; answers its hash. */
export async function putContent(api: Api, key: ActorKey, content = 'the bytes'): Promise<string> {
  const bytes = new Uint8Array(Buffer.from(content));
  const contentHash = hashOf(bytes);
  const answer = await api.put(key, contentHash, bytes);
  if (answer.status !== 201) throw new Error(answer.text);
  return contentHash;
}

export function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
