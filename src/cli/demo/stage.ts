// The ground the demo stands on: a database of its own choice, the service in this process, one fresh Organization and
// its cast. `close` takes everything away again; it is safe at any moment and more than once.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../config.ts';
import { startService } from '../../main.ts';
import { startEmbeddedPostgres } from '../../platform/embedded-postgres.ts';
import { newMasterKeyText } from '../../platform/master-key.ts';
import { createThrowawayDatabase } from '../../store/postgres/throwaway-database.ts';
import type { Engine } from './arguments.ts';
import { assembleCast, principalOf, type Cast } from './cast.ts';
import type { Journal } from './journal.ts';
import { Operator, type OrganizationAnswer } from './operator.ts';
import type { Policy } from '../../domain/policy.ts';
import { ARCHIVE } from './scenes/archive.ts';

export interface Stage {
  readonly url: string;
  /** Where the state is kept, in words, without a password. */
  readonly store: string;
  readonly operator: Operator;
  readonly organization: OrganizationAnswer;
  readonly cast: Cast;
}

/** WorkItems that one agent may execute at a time, over all Groups; the story of Ada needs it to be one. */
const ACTIVE_WORK_ITEMS = 1;

export class StageHands {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private closing: Promise<void> | undefined;

  /** What is set up last is taken down first. */
  onClose(step: () => Promise<unknown>): void {
    this.steps.push(step);
  }

  close(): Promise<void> {
    this.closing ??= this.takeDown();
    return this.closing;
  }

  private async takeDown(): Promise<void> {
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      await step().catch(() => undefined); // the other steps still have to run
    }
  }
}

export interface StageOptions {
  readonly database: Engine;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  readonly hands: StageHands;
}

export async function setStage({ database, journal, signal, hands }: StageOptions): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'mwp-demo-'));
  hands.onClose(() => rm(folder, { recursive: true, force: true }));
  const { store, databaseUrl, masterKey } = await openDatabase(database, folder, hands);
  signal.throwIfAborted();
  const token = randomBytes(24).toString('base64url');
  const service = await startService(
    readConfig({
      MWP_DATA_DIR: folder,
      MWP_PORT: '0',
      MWP_LOG_LEVEL: 'silent',
      MWP_MASTER_KEY: masterKey,
      MWP_OPERATOR_TOKEN: token,
      DATABASE_URL: databaseUrl,
    }),
  );
  hands.onClose(() => service.stop());
  signal.throwIfAborted();
  const { url } = service;
  const operator = new Operator({ url, token, signal });
  const slug = `demo-${randomBytes(4).toString('hex')}`;
  const organization = await operator.createOrganization(slug, 'The demo');
  const policy = await operator.policy(slug);
  await operator.putPolicy(slug, policyOfTheStory(policy));
  const cast = await assembleCast({ operator, url, organization: slug, journal, signal });
  return { url, store, operator, organization, cast };
}

/** What the scenes count on: one WorkItem at a time, an auditor, and a service that may archive. */
export function policyOfTheStory(policy: Policy): Policy {
  return {
    ...policy,
    limits: { ...policy.limits, activeWorkItems: ACTIVE_WORK_ITEMS },
    auditors: [principalOf('iris')],
    services: [...policy.services, { serviceId: principalOf('arno').id, kinds: [ARCHIVE], relay: false }],
  };
}

interface Ground {
  readonly store: string;
  readonly databaseUrl?: string;
  /** Where others keep state under a key of theirs, it has to be that key. */
  readonly masterKey: string;
}

async function openDatabase(database: Engine, folder: string, hands: StageHands): Promise<Ground> {
  const masterKey = newMasterKeyText();
  switch (database.engine) {
    case 'sqlite':
      return { store: `SQLite in ${folder}`, masterKey };
    case 'postgres':
      return openOnServer(database.databaseUrl, hands, masterKey);
    case 'embedded-postgres': {
      const server = await startEmbeddedPostgres();
      hands.onClose(() => server.stop());
      const { host } = new URL(server.url);
      return { store: `PostgreSQL, a throwaway server at ${host}`, databaseUrl: server.url, masterKey };
    }
  }
}

/** In a database of its own, dropped at the end; in the one that was named where the role may not create any. */
async function openOnServer(url: string, hands: StageHands, masterKey: string): Promise<Ground> {
  const { host, pathname } = new URL(url);
  const own = await createThrowawayDatabase(url);
  if (own) {
    hands.onClose(() => own.drop());
    return { store: `PostgreSQL at ${host}, a throwaway database`, databaseUrl: own.url, masterKey };
  }
  const store = `PostgreSQL at ${host}, in ${pathname.slice(1)} (its role may create no database), where it stays`;
  return { store, databaseUrl: url, masterKey: process.env['MWP_MASTER_KEY'] ?? masterKey };
}
