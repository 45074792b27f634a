// The whole service on either database, with an Organization, a human and an agent in it, and everything that it logs.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, type Environment } from '../../src/config.ts';
import { startService, type RunningService } from '../../src/main.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand, type CommandDraft, type SignedCommand } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { agentCard } from '../transport/cards.ts';
import { leaseDatabase } from './databases.ts';
import { Mission } from './mission.ts';
import type { Tenant } from './tenant.ts';

export const OPERATOR_TOKEN = 'an-operator-token-for-tests';
export const SLUG = 'acme';

export type Engine = 'sqlite' | 'postgres';
export const ENGINES: Engine[] = ['sqlite', 'postgres'];

/** What a service needs to know of a fresh database, and how it is taken away. */
export interface Place {
  environment: Environment;
  giveBack: () => void;
}

export async function newPlace(engine: Engine): Promise<Place> {
  const common = { MWP_PORT: '0', MWP_OPERATOR_TOKEN: OPERATOR_TOKEN, MWP_LOG_LEVEL: 'trace' };
  if (engine === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'mwp-serving-'));
    return {
      environment: { ...common, MWP_DATA_DIR: folder },
      giveBack: () => rmSync(folder, { recursive: true, force: true }),
    };
  }
  const { url, giveBack } = await leaseDatabase();
  const masterKey = randomBytes(32).toString('base64');
  const blobs = mkdtempSync(join(tmpdir(), 'mwp-serving-'));
  return {
    environment: { ...common, DATABASE_URL: url, MWP_MASTER_KEY: masterKey, MWP_BLOBS_DIR: blobs },
    giveBack: () => {
      giveBack();
      rmSync(blobs, { recursive: true, force: true });
    },
  };
}

export interface Line {
  level: number;
  msg: string;
  [member: string]: unknown;
}

export class Serving {
  readonly service: RunningService;
  readonly olga: ActorKey;
  readonly ada: ActorKey;
  /** As written, one JSON object a line. */
  readonly log: string[];
  private readonly token = new Map<string, string>();

  private constructor(service: RunningService, log: string[], people: People) {
    this.olga = people.olga;
    this.ada = people.ada;
    this.service = service;
    this.log = log;
  }

  /** `people`: who is registered in the database already. */
  static async start(environment: Environment, people: People = newPeople()): Promise<Serving> {
    const log: string[] = [];
    const config = readConfig(environment);
    const logger = createLogger(config.logLevel, { write: (line) => void log.push(line) });
    return new Serving(await startService(config, { logger }), log, people);
  }

  get url(): string {
    return this.service.url;
  }

  lines(message: string): Line[] {
    return this.log.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message);
  }

  async operate(method: string, below: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}/v1/operator${below}`, {
      method,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  /** The Organization, Olga and Ada. */
  async people(slug = SLUG): Promise<void> {
    const { olga } = this;
    const keys = [{ keyId: olga.keyId, publicKey: olga.publicKey }];
    const made = [
      await this.operate('POST', '/organizations', { slug, displayName: 'Acme' }),
      await this.operate('POST', `/organizations/${slug}/principals`, {
        principal: olga.principal,
        displayName: 'Olga',
        keys,
      }),
      await this.operate('POST', `/organizations/${slug}/agents`, { card: agentCard(this.ada) }),
    ];
    for (const answer of made) if (answer.status !== 201) throw new Error(await answer.text());
    const opened = await this.client(this.ada).openSession();
    if (!opened.ok) throw new Error('no session');
  }

  client(key: ActorKey, organization = SLUG): AuthorityClient {
    return new AuthorityClient({ url: this.url, organization, key });
  }

  async tokenOf(key: ActorKey): Promise<string> {
    const known = this.token.get(key.keyId);
    if (known !== undefined) return known;
    const outcome = await this.client(key).logIn();
    if (!outcome.ok) throw new Error('no login');
    this.token.set(key.keyId, outcome.value.token);
    return outcome.value.token;
  }

  /** Olga creates a Mission that Ada coordinates; every call another one. */
  creation(payload: object = {}): SignedCommand {
    return sign(this.olga, newMission(this.olga, this.ada).creation(payload));
  }

  async submit(key: ActorKey, bytes: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}/v1/orgs/${SLUG}/commands`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await this.tokenOf(key)}`, 'content-type': 'application/json', ...headers },
      body: bytes as unknown as string,
    });
  }
}

interface People {
  readonly olga: ActorKey;
  readonly ada: ActorKey;
}

function newPeople(): People {
  return {
    olga: generateActorKey({ type: 'human', id: 'urn:test:human:olga' }),
    ada: generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' }),
  };
}

export function newMission(owner: ActorKey, coordinator: ActorKey): Mission {
  // Of a Tenant only the clock is asked for a draft.
  const tenant = { now: () => new Date().toISOString() } as Tenant;
  return Mission.draft(tenant, owner, coordinator);
}

export function sign(key: ActorKey, draft: CommandDraft): SignedCommand {
  return signCommand(key, draft, {}, Date.now());
}
