// The service in this process, one Organization in it, and its people: registered over the operator API, logged in with
// challenges that the official functions read and sign.
import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/config.ts';
import { startService, type RunningService } from '../../src/main.ts';
import { newMasterKeyText } from '../../src/platform/master-key.ts';
import { Actor } from './actor.ts';
import type { Checks } from './checks.ts';
import { cardOf, inSeconds } from './drafts.ts';
import { KeyRing } from './key-ring.ts';
import type { JsonObject, KeyBinding, KeyRegistrySnapshot, OfficialSdk, Principal } from './sdk.ts';
import { Traffic, type Answer } from './traffic.ts';

export const SLUG = 'interop';
export const OPERATOR = '/v1/operator';
export const BASE = `/v1/orgs/${SLUG}`;

export interface Cast {
  /** Human, owns the Missions. */
  readonly olga: Actor;
  /** Human, looks on. */
  readonly otto: Actor;
  /** Agent, coordinates. */
  readonly cora: Actor;
  /** Agents that work; Ben joins provisionally. */
  readonly ada: Actor;
  readonly ben: Actor;
}

export interface Stage {
  readonly sdk: OfficialSdk;
  readonly checks: Checks;
  readonly service: RunningService;
  readonly traffic: Traffic;
  readonly folder: string;
  /** With which a process of its own works on the same database. */
  readonly environment: Readonly<Record<string, string>>;
  readonly operatorToken: string;
  readonly organizationId: string;
  readonly authority: Principal;
  readonly cast: Cast;
  readonly keys: KeyRing;
  /** What the ring holds, at any time. */
  readonly registry: KeyRegistrySnapshot;
  /** Signed Cards as the operator API answered them. */
  readonly cards: readonly JsonObject[];
}

export interface StageOptions {
  readonly sdk: OfficialSdk;
  readonly checks: Checks;
  /** For exports, and for the SQLite file where there is no `databaseUrl`. */
  readonly folder: string;
  readonly databaseUrl?: string;
}

export async function setStage({ sdk, checks, folder, databaseUrl }: StageOptions): Promise<Stage> {
  const operatorToken = randomBytes(24).toString('base64url');
  const environment = {
    MWP_DATA_DIR: folder,
    MWP_MASTER_KEY: newMasterKeyText(),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  const service = await startService(
    readConfig({ ...environment, MWP_PORT: '0', MWP_LOG_LEVEL: 'silent', MWP_OPERATOR_TOKEN: operatorToken }),
  );
  try {
    const traffic = new Traffic(service.url, sdk);
    const operate = (path: string, body: JsonObject) =>
      traffic.must({ path: `${OPERATOR}${path}`, token: operatorToken, body });
    const organization = await operate('/organizations', { slug: SLUG, displayName: 'Interop' });
    const organizationId = String(organization['organizationId']);
    const keys = new KeyRing(organizationId);
    for (const key of organization['keys'] as Omit<KeyBinding, 'algorithm' | 'validityHistory'>[]) {
      keys.add({ ...key, algorithm: 'Ed25519', validityHistory: [] });
    }
    const cast: Cast = {
      olga: new Actor(sdk, 'human', 'olga'),
      otto: new Actor(sdk, 'human', 'otto'),
      cora: new Actor(sdk, 'agent', 'cora'),
      ada: new Actor(sdk, 'agent', 'ada'),
      ben: new Actor(sdk, 'agent', 'ben'),
    };
    const cards: JsonObject[] = [];
    for (const actor of Object.values(cast) as Actor[]) {
      const validFrom = inSeconds(-60);
      const { principal, publicKey } = actor;
      if (principal.type === 'agent') {
        const answer = await operate(`/organizations/${SLUG}/agents`, { card: cardOf(actor, cast.olga, validFrom) });
        cards.push(answer['agentCard'] as JsonObject);
      } else {
        const named = [{ keyId: actor.key.keyId, publicKey, validFrom }];
        await operate(`/organizations/${SLUG}/principals`, { principal, displayName: actor.name, keys: named });
      }
      keys.add(actor.binding(validFrom));
    }
    const authority = organization['authority'] as Principal;
    return {
      sdk,
      checks,
      service,
      traffic,
      folder,
      environment,
      operatorToken,
      organizationId,
      authority,
      cast,
      keys,
      registry: keys.snapshot,
      cards,
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

export async function logEverybodyIn(stage: Stage): Promise<void> {
  for (const actor of Object.values(stage.cast) as Actor[]) await logIn(stage, actor);
}

/** Of an Agent: a new session, too. */
export async function logIn(stage: Stage, actor: Actor): Promise<void> {
  const answer = await tokenAnswer(stage, actor);
  const { token, sessionEpoch } = answer.body;
  if (typeof token !== 'string') throw new Error(`the login of ${actor.name} was answered ${answer.text}`);
  actor.token = token;
  if (typeof sessionEpoch === 'number') actor.sessionEpoch = sessionEpoch;
}

export async function tokenAnswer(
  { sdk, checks, traffic }: Stage,
  actor: Actor,
  { key } = actor.pair,
): Promise<Answer> {
  const { principal } = actor;
  const clientNonce = sdk.encodeBase64Url(randomBytes(32));
  const asked = await traffic.must({
    path: `${BASE}/auth/challenge`,
    body: { principal, keyId: key.keyId, clientNonce },
  });
  const challenge = String(asked['challenge']);
  const transcript = sdk.decodeBase64Url(challenge);
  const parsed = sdk.parseStrictJson(transcript) as JsonObject;
  checks.equal(
    `the challenge for ${actor.name} is the canonical transcript of this attempt`,
    { text: Buffer.from(transcript).toString('utf8'), clientNonce: parsed['clientNonce'], agentId: parsed['agentId'] },
    { text: sdk.canonicalizeJson(parsed), clientNonce, agentId: principal.id },
  );
  return traffic.send({
    path: `${BASE}/auth/token`,
    body: {
      principal,
      challenge,
      challengeSignature: sdk.encodeBase64Url(key.sign(transcript)),
      openSession: principal.type === 'agent',
    },
  });
}
