// What each step of `npm run measure` does to the Group of its folder, timed without the start of the process around it.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { composeService, type Composed } from '../../src/main.ts';
import { listen, type Listening } from '../../src/http/listen.ts';
import { mwp } from '../../src/cli/mwp.ts';
import { createLogger } from '../../src/platform/logger.ts';
import type { StatePack } from '../../src/trust/snapshot-link.ts';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { GroupReader } from '../../src/worker/group-reader.ts';
import { GroupFold } from '../../src/worker/group-fold.ts';
import { actorKeyFromSeed, generateActorKey, type ActorKey, type NewActorKey } from '../../src/worker/keys.ts';
import { agentCard } from '../transport/cards.ts';
import { build, type Built } from './build.ts';
import { archive, erase } from './endings.ts';
import type { Step } from './steps.ts';

export const SLUG = 'acme';
const OPERATOR_TOKEN = 'an-operator-token-for-measuring';
/** The window that is left of the Group, whatever its age. */
const WINDOW_EVENTS = 5_000;

/** The largest that may be asked for. */
const LAST_SEQUENCE = 999_999_999_999_999;

export interface Size {
  events: number;
  messagePercent: number;
}

interface Kept extends Built {
  keys: { principal: ActorKey['principal']; keyId: string; seed: string }[];
}

export class Life {
  private readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  async play(step: Step, size: Size): Promise<{ seconds: number; says: string }> {
    if (step === 'build') return this.build(size);
    if (step === 'verify') return this.command('verify');
    if (step === 'export') {
      const result = await this.command(
        'export',
        '--org',
        SLUG,
        '--group',
        this.kept().groupId,
        '--out',
        this.bundle(),
      );
      return { ...result, says: `${megabytes(statSync(this.bundle()).size)} MB` };
    }
    if (step === 'verify bundle') return this.command('verify', '--bundle', this.bundle());
    return this.serving((service) => this.inService(step, service));
  }

  private inService(step: Step, service: Service): Promise<{ seconds: number; says: string }> {
    switch (step) {
      case 'first snapshot':
      case 'next snapshot':
        return this.snapshot(step, service);
      case 'seal':
        return this.seal(service);
      case 'restore':
        return this.restore(service);
      case 'replay':
        return this.replay(service);
      case 'old page':
        return this.oldPage(service);
      case 'erase':
        return this.reader(service).then((reader) => erase(service, reader));
      case 'archive':
        return this.reader(service).then((reader) => archive(service, reader, this.people()[0]));
      default:
        return Promise.resolve({ seconds: 0, says: 'a service that nobody asks' });
    }
  }

  private async build(size: Size): Promise<{ seconds: number; says: string }> {
    const people = ['human:olga', 'agent:ada', 'agent:bob'].map((name) => {
      const [type = ''] = name.split(':');
      return generateActorKey({ type: type as 'human' | 'agent', id: `urn:measure:${name}` });
    });
    return this.serving(async (service) => {
      await register(service, people);
      const begun = performance.now();
      const built = await build(service, people as [NewActorKey, NewActorKey, NewActorKey], size);
      const seconds = since(begun);
      const keys = people.map(({ principal, keyId, seed }) => ({
        principal,
        keyId,
        seed: Buffer.from(seed).toString('hex'),
      }));
      writeFileSync(this.file(), JSON.stringify({ ...built, keys } satisfies Kept));
      return { seconds, says: `${built.events} Events, ${Math.round(built.events / seconds)} a second` };
    });
  }

  private async snapshot(step: Step, service: Service): Promise<{ seconds: number; says: string }> {
    const reader = await this.reader(service);
    if (step === 'next snapshot') await build(service, this.people(), { events: 200, messagePercent: 50 }, this.kept());
    const begun = performance.now();
    const taken = await reader.takeSnapshot();
    if (!taken.ok) throw new Error(taken.problem.message);
    const { statePacks: packs } = taken.value.details as unknown as { statePacks: StatePack[] };
    const last = packs.at(-1);
    return {
      seconds: since(begun),
      says: `pack ${packs.length}: ${last?.documents} aggregates, ${megabytes(last?.bytes ?? 0)} MB`,
    };
  }

  private async seal({ url, composed }: Service): Promise<{ seconds: number; says: string }> {
    const policy = (await operate(url, 'GET', `/organizations/${SLUG}/policy`)) as object;
    await operate(url, 'PUT', `/organizations/${SLUG}/policy`, { ...policy, onlineWindow: { events: WINDOW_EVENTS } });
    const begun = performance.now();
    const { segments } = composed.store;
    const { organizationId, groupId } = await this.where(composed);
    let before = -1;
    let standing = await segments.standing(organizationId, groupId);
    while (standing && standing.sealedThrough !== before) {
      before = standing.sealedThrough;
      await composed.upkeep.round();
      standing = await segments.standing(organizationId, groupId);
    }
    return { seconds: since(begun), says: `${standing?.sealedThrough} of ${standing?.headSequence} Events sealed` };
  }

  /** As a follower that was away for the whole window: the first page, the snapshot, the tail. */
  private async restore(service: Service): Promise<{ seconds: number; says: string }> {
    const reader = await this.reader(service);
    const { organizationId, authority } = (await service.composed.store.organizations.bySlug(SLUG))!;
    const keys = await service.composed.store.organizations.bindings(organizationId, authority);
    const registry = registrySnapshot(
      organizationId,
      keys.map((key) => ({ ...key, history: [] })),
    );
    const follower = reader.follower({ organizationId, authority, evidence: evidenceFromSnapshot(registry) });
    const begun = performance.now();
    const caught = await follower.catchUp();
    const seconds = since(begun);
    if (!caught.ok) throw new Error(caught.problem.message);
    await this.expectState(reader, follower.fold);
    return { seconds, says: `${caught.value.restored} snapshot, then to ${caught.value.headSequence}` };
  }

  /** Every Event from the first on, folded: what a member without snapshots would have to do. */
  private async replay(service: Service): Promise<{ seconds: number; says: string }> {
    const reader = await this.reader(service);
    const { organizationId, groupId } = await this.where(service.composed);
    const fold = new GroupFold(organizationId, groupId);
    const begun = performance.now();
    for (let from = 1; ;) {
      const page = await reader.historyPage(from, LAST_SEQUENCE);
      if (!page.ok) throw new Error(page.problem.message);
      for (const event of page.value.items) fold.add(event);
      if (page.value.next === undefined) break;
      from = Number(page.value.next);
    }
    const seconds = since(begun);
    await this.expectState(reader, fold);
    return { seconds, says: `${fold.throughSequence} Events` };
  }

  private async oldPage(service: Service): Promise<{ seconds: number; says: string }> {
    const reader = await this.reader(service);
    const begun = performance.now();
    const page = await reader.historyPage(1_500, 1_699);
    if (!page.ok) throw new Error(page.problem.message);
    return { seconds: since(begun), says: `${page.value.items.length} sealed Events` };
  }

  private async expectState(reader: GroupReader, fold: GroupFold): Promise<void> {
    const state = await reader.state();
    if (!state.ok || state.value.stateHash !== fold.stateHash()) throw new Error('the state is another one');
  }

  private async command(...args: string[]): Promise<{ seconds: number; says: string }> {
    Object.assign(process.env, this.environment());
    const begun = performance.now();
    const code = await mwp(args);
    if (code !== 0) throw new Error(`mwp ${args.join(' ')} ended with ${code}`);
    return { seconds: since(begun), says: 'proven' };
  }

  private async serving<Result>(work: (service: Service) => Promise<Result>): Promise<Result> {
    const config = readConfig(this.environment());
    const composed = await composeService(config, { logger: createLogger('error') });
    const server: Listening = await listen(composed.app.fetch, config);
    try {
      return await work({ url: server.url, composed });
    } finally {
      await server.close();
      await composed.lifecycle.stop();
    }
  }

  private environment(): Record<string, string> {
    return {
      MWP_PORT: '0',
      MWP_OPERATOR_TOKEN: OPERATOR_TOKEN,
      MWP_LOG_LEVEL: 'error',
      MWP_DATA_DIR: join(this.folder, 'data'),
    };
  }

  private async reader({ url }: Service): Promise<GroupReader> {
    const [olga] = this.people();
    const client = new AuthorityClient({ url, organization: SLUG, key: olga });
    const loggedIn = await client.logIn();
    if (!loggedIn.ok) throw new Error(loggedIn.problem.message);
    return new GroupReader(client, this.kept().groupId);
  }

  private async where({ store }: Composed) {
    const { organizationId } = (await store.organizations.bySlug(SLUG))!;
    return { organizationId, groupId: this.kept().groupId };
  }

  private people(): [ActorKey, ActorKey, ActorKey] {
    const keys = this.kept().keys.map(({ principal, keyId, seed }) =>
      actorKeyFromSeed(principal, keyId, Buffer.from(seed, 'hex')),
    );
    return keys as [ActorKey, ActorKey, ActorKey];
  }

  private kept(): Kept {
    if (!existsSync(this.file())) throw new Error('nothing was built');
    return JSON.parse(readFileSync(this.file(), 'utf8')) as Kept;
  }

  private file(): string {
    return join(this.folder, 'built.json');
  }

  private bundle(): string {
    return join(this.folder, 'group.bundle');
  }
}

export interface Service {
  url: string;
  composed: Composed;
}

async function register({ url }: Service, people: ActorKey[]): Promise<void> {
  await operate(url, 'POST', '/organizations', { slug: SLUG, displayName: 'Acme' });
  for (const key of people) {
    const { principal, keyId, publicKey } = key;
    if (principal.type === 'agent')
      await operate(url, 'POST', `/organizations/${SLUG}/agents`, { card: agentCard(key, { maxConcurrency: 100 }) });
    else {
      const body = { principal, displayName: principal.id, keys: [{ keyId, publicKey }] };
      await operate(url, 'POST', `/organizations/${SLUG}/principals`, body);
    }
  }
  const policy = (await operate(url, 'GET', `/organizations/${SLUG}/policy`)) as Record<string, object>;
  const limits = { ...policy['limits'], messagesPerMinute: 100_000, activeWorkItems: 100 };
  const rate = {
    organization: { perSecond: 100_000, burst: 1_000_000 },
    actor: { perSecond: 100_000, burst: 1_000_000 },
  };
  const rates = { commands: rate, reads: rate, logins: rate };
  await operate(url, 'PUT', `/organizations/${SLUG}/policy`, { ...policy, limits, rates, snapshotEvery: 1_000_000 });
}

export async function operate(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}/v1/operator${path}`, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return JSON.parse(text);
}

export function since(begun: number): number {
  return (performance.now() - begun) / 1_000;
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
