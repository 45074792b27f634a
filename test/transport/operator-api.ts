// The operator API over a store, with real keys in a real vault; asked without a network.
import { randomBytes } from 'node:crypto';
import { createAuthority } from '../../src/authority/authority.ts';
import { createApp } from '../../src/http/app.ts';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { VaultSigners } from '../../src/platform/tenant-signers.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { answerChallenge } from '../../src/worker/challenge.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { checkSeal } from '../support/sealing.ts';
import { temporaryBlobs } from '../support/temporary-blobs.ts';
import type { Body } from './answers.ts';
import type { Answer } from './api.ts';
import { checkDeclared } from './declared.ts';

export const TOKEN = 'an-operator-token-for-tests';
export const vault = new KeyVault(randomBytes(32));

type App = ReturnType<typeof createApp>;

export function appOver(store: AuthorityStore, operatorToken: string | undefined = TOKEN): App {
  const signers = new VaultSigners(store.organizations, vault);
  const authority = createAuthority({ store, signers, checkSeal });
  const logger = createLogger('silent');
  const contents = {
    blobs: temporaryBlobs(),
    snapshotBlobs: temporaryBlobs(),
    auditBlobs: temporaryBlobs(),
    contentBytesMaximum: 1_000,
  };
  return createApp({ store, ...contents, authority, signers, vault, logger, ...(operatorToken && { operatorToken }) });
}

export async function ask(app: App, method: string, route: string, body?: unknown, token = TOKEN): Promise<Answer> {
  const response = await app.request(route, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Body };
  checkDeclared(app, method, route, answer);
  return answer;
}

/** The operator, and who logs in to the Organization `acme`. */
export class Operator {
  readonly app: App;

  constructor(store: AuthorityStore) {
    this.app = appOver(store);
  }

  call(method: string, below: string, body?: unknown): Promise<Answer> {
    return ask(this.app, method, `/v1/operator${below}`, body);
  }

  create(slug = 'acme', more: object = {}): Promise<Answer> {
    return this.call('POST', '/organizations', { slug, displayName: 'Acme Inc.', ...more });
  }

  register(key: ActorKey, more: object = {}): Promise<Answer> {
    return this.call('POST', '/organizations/acme/principals', {
      principal: key.principal,
      displayName: 'Olga',
      keys: [{ keyId: key.keyId, publicKey: key.publicKey }],
      ...more,
    });
  }

  async logIn(key: ActorKey, openSession = false): Promise<Answer> {
    const { principal, keyId } = key;
    const asked = await ask(this.app, 'POST', '/v1/orgs/acme/auth/challenge', {
      principal,
      keyId,
      clientNonce: 'abcd',
    });
    const { challenge } = asked.json;
    const challengeSignature = answerChallenge(key, 'abcd', challenge);
    const body = { principal, challenge, challengeSignature, ...(openSession && { openSession }) };
    return ask(this.app, 'POST', '/v1/orgs/acme/auth/token', body);
  }
}

export function human(name = 'olga'): ActorKey {
  return generateActorKey({ type: 'human', id: `urn:test:human:${name}` });
}
