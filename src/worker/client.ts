// The HTTP client of one actor in one Organization: log in, open a session, submit signed Commands, read. Every method
// answers an Outcome; none throws for anything the network or the authority does.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Accepted, Challenge, Me, StoredContent, Token } from './answers.ts';
import { answerChallenge, newClientNonce } from './challenge.ts';
import type { SignedCommand } from './commands.ts';
import { exchange, openStream, type Answer, type Exchange } from './exchange.ts';
import type { ActorKey } from './keys.ts';
import { adviceFor, done, failed, type Outcome } from './outcome.ts';

export interface ClientOptions {
  /** Of the service, without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The Organization's slug. */
  readonly organization: string;
  readonly key: ActorKey;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

type SendOptions = CallOptions & Pick<Exchange, 'body' | 'ofBytes'>;

/** How often one call sends its request. A longer outage is the caller's to wait out, with the same bytes. */
const ATTEMPTS = 5;
/** Longest wait between two attempts; an authority that asks for more gets its refusal handed on. */
const LONGEST_WAIT_MS = 5_000;

export class AuthorityClient {
  readonly key: ActorKey;
  private readonly base: string;
  private token: string | undefined;

  constructor(options: ClientOptions) {
    this.key = options.key;
    this.base = `${options.url}/v1/orgs/${options.organization}`;
  }

  /** Proves possession of the key and gets a token. Touches no session; enough for reading, and for humans all there is. */
  logIn(options: CallOptions = {}): Promise<Outcome<Token>> {
    return this.authenticate(false, options);
  }

  /**
   * As `logIn`, and opens a new session of this Agent: its Session Epoch rises by one, every older session is fenced and
   * its Execution Leases are revoked. The epoch comes with the token.
   */
  openSession(options: CallOptions = {}): Promise<Outcome<Token>> {
    return this.authenticate(true, options);
  }

  /** A new token for the old one, without a new session. */
  async refresh(options: CallOptions = {}): Promise<Outcome<Token>> {
    return this.keep(await this.call<Token>('POST', '/auth/refresh', options));
  }

  /**
   * Submits until there is an answer: a lost one, and a refusal that the authority calls retryable, send the identical
   * bytes again, at most ATTEMPTS times. So one Command has one effect, however often it went out.
   */
  submit(command: SignedCommand, options: CallOptions = {}): Promise<Outcome<Accepted>> {
    return this.persist(() => this.submitOnce(command.bytes, options), options);
  }

  /** One request, any bytes. */
  submitOnce(bytes: Uint8Array, options: CallOptions = {}): Promise<Outcome<Accepted>> {
    return this.call<Accepted>('POST', '/commands', { ...options, body: bytes });
  }

  /** Who the authority takes this client for, with the first page of its Memberships. */
  me(options: CallOptions = {}): Promise<Outcome<Me>> {
    return this.read<Me>('/me?limit=200', options);
  }

  /** GET below the Organization, as in `/groups/urn%3A…/work-items`. What comes back is trusted to have its shape. */
  read<Value>(path: string, options: CallOptions = {}): Promise<Outcome<Value>> {
    return this.persist(() => this.call<Value>('GET', path, options), options);
  }

  /** As `read`, but the body as it came: signed documents and receipts stand in it byte for byte. */
  async readText(path: string, options: CallOptions = {}): Promise<Outcome<string>> {
    const answer = await this.persist(() => this.send('GET', path, options), options);
    return answer.ok ? done(Buffer.from(answer.value.bytes).toString('utf8')) : answer;
  }

  /** As `read`, but as a stream, for what has no bound. */
  stream(path: string, options: CallOptions = {}): Promise<Outcome<AsyncIterable<Uint8Array>>> {
    const { signal } = options;
    return this.persist(() => openStream({ url: this.base + path, token: this.token, signal }), options);
  }

  /** POST without a body, below the Organization: for what may be asked for twice. */
  request<Value>(path: string, options: CallOptions = {}): Promise<Outcome<Value>> {
    return this.persist(() => this.call<Value>('POST', path, options), options);
  }

  /** Stores bytes under their hash, for a manifest that names them; sends them again as `submit` does. */
  putContent(bytes: Uint8Array, options: CallOptions = {}): Promise<Outcome<StoredContent>> {
    const path = `/content/${hashOf(bytes)}`;
    const sent = { ...options, body: bytes, ofBytes: true };
    return this.persist(() => this.call<StoredContent>('PUT', path, sent), options);
  }

  /** The bytes of a manifest's `contentHash`. Bytes that have another hash are not handed on. */
  async content(contentHash: string, options: CallOptions = {}): Promise<Outcome<Uint8Array>> {
    const sent = { ...options, ofBytes: true };
    const answer = await this.persist(() => this.send('GET', `/content/${contentHash}`, sent), options);
    if (!answer.ok) return answer;
    const { bytes } = answer.value;
    if (hashOf(bytes) === contentHash) return done(bytes);
    return failed({ kind: 'unreadable', status: 200, message: 'the content has another hash' });
  }

  private async authenticate(openSession: boolean, options: CallOptions): Promise<Outcome<Token>> {
    const { principal, keyId } = this.key;
    const clientNonce = newClientNonce();
    const asked = await this.call<Challenge>('POST', '/auth/challenge', {
      ...options,
      body: JSON.stringify({ principal, keyId, clientNonce }),
    });
    if (!asked.ok) return asked;
    const { challenge } = asked.value;
    const challengeSignature = answerChallenge(this.key, clientNonce, challenge);
    if (challengeSignature === undefined) {
      return failed({ kind: 'unreadable', status: 200, message: 'the challenge is not about this attempt' });
    }
    const body = JSON.stringify({ principal, challenge, challengeSignature, openSession });
    return this.keep(await this.call<Token>('POST', '/auth/token', { ...options, body }));
  }

  private keep(answer: Outcome<Token>): Outcome<Token> {
    if (answer.ok) this.token = answer.value.token;
    return answer;
  }

  private async persist<Value>(
    attempt: () => Promise<Outcome<Value>>,
    { signal }: CallOptions,
  ): Promise<Outcome<Value>> {
    for (let tries = 1; ; tries += 1) {
      const answer = await attempt();
      if (answer.ok || tries >= ATTEMPTS) return answer;
      const advice = adviceFor(answer.problem);
      if (advice.next === 'log_in' && tries === 1) {
        const renewed = await this.logIn({ signal });
        if (!renewed.ok) return answer;
        continue;
      }
      if (advice.next !== 'resend' || advice.afterMs > LONGEST_WAIT_MS) return answer;
      await pause(advice.afterMs, signal);
    }
  }

  private async call<Value>(
    method: Exchange['method'],
    path: string,
    options: SendOptions = {},
  ): Promise<Outcome<Value>> {
    const answer = await this.send(method, path, options);
    return answer.ok ? done(answer.value.value as Value) : answer;
  }

  private send(
    method: Exchange['method'],
    path: string,
    { body, signal, ofBytes }: SendOptions,
  ): Promise<Outcome<Answer>> {
    return exchange({ method, url: this.base + path, token: this.token, body, signal, ofBytes });
  }
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  // An abort ends the pause early; the next attempt sees the signal and says so.
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
