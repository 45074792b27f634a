// Two operating system processes on one PostgreSQL, reached over HTTP: they never disagree, and hold no stale cache.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyVault } from '../../src/platform/key-vault.ts';
import { AuthorityClient } from '../../src/worker/client.ts';
import { signCommand, type CommandDraft } from '../../src/worker/commands.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { MASTER_KEY } from '../support/sealing.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { id, Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { hashOf } from '../transport/api.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Serving {
  url: string;
  child: ChildProcess;
}

/** `mwp serve` from its sources; resolves once it says where it listens. */
function serve(databaseUrl: string, blobs: Record<string, string>): Promise<Serving> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'src/cli/main.ts'), 'serve'], {
    cwd: ROOT,
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      ...blobs,
      MWP_MASTER_KEY: MASTER_KEY.toString('base64'),
      MWP_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`mwp serve ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
      if (msg === 'serving' && url !== undefined) resolve({ url, child });
    });
  });
}

describe.each(STORES.filter(({ name }) => name === 'postgres'))('two processes on one $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let mission: Mission;
  let services: Serving[];
  let blobs: string;

  beforeAll(async () => {
    opened = await open();
    blobs = mkdtempSync(join(tmpdir(), 'mwp-two-'));
    services = await twoOf({ MWP_BLOBS_DIR: blobs });
    tenant = await Tenant.create(opened.store, { vault: new KeyVault(MASTER_KEY) });
    mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
  }, 120_000);

  afterAll(async () => {
    for (const { child } of services) child.kill('SIGTERM');
    await tenant.expectReplayEquivalence();
    await opened.close();
    rmSync(blobs, { recursive: true, force: true });
  });

  const twoOf = (kept: Record<string, string>) =>
    Promise.all([serve(opened.address, kept), serve(opened.address, kept)]);

  async function client(key: ActorKey, process: number): Promise<AuthorityClient> {
    const url = services[process]?.url ?? '';
    const made = new AuthorityClient({ url, organization: tenant.organization.slug, key });
    expect(await made.logIn()).toMatchObject({ ok: true });
    return made;
  }

  const sign = (key: ActorKey, draft: CommandDraft) => signCommand(key, draft, mission.epochsOf(key));

  it.each(['files', 'database'])(
    'a content that one process took, the other one gives: they share its %s',
    async (kept) => {
      const pair = kept === 'files' ? services : await twoOf({ MWP_BLOBS: kept });
      const content = `stored by the one in its ${kept}`;
      const contentHash = hashOf(new Uint8Array(Buffer.from(content)));
      const answers: [number, string][] = [];
      for (const [process, method] of ['PUT', 'PUT', 'GET'].entries()) {
        const { url } = pair[process % 2] as Serving;
        const made = new AuthorityClient({ url, organization: tenant.organization.slug, key: mission.coordinator });
        const login = await made.logIn();
        if (!login.ok) throw new Error('no login');
        const answer = await fetch(`${url}/v1/orgs/${tenant.organization.slug}/content/${contentHash}`, {
          method,
          headers: { authorization: `Bearer ${login.value.token}`, 'content-type': 'application/octet-stream' },
          ...(method === 'PUT' && { body: content }),
        });
        answers.push([answer.status, await answer.text()]);
      }
      const stored = JSON.stringify({ contentHash, sizeBytes: content.length });
      expect(answers).toEqual([
        [201, stored],
        [200, stored],
        [200, content],
      ]);
      if (pair !== services) for (const { child } of pair) child.kill('SIGTERM');
    },
  );

  it('MWP-FND-012a: twenty acceptances, half through each process, give one owner and one epoch step', async () => {
    const workers: ActorKey[] = [];
    for (let number = 0; number < 20; number += 1) {
      const worker = await tenant.agent(`worker-${number}`);
      await mission.join(worker);
      workers.push(worker);
    }
    const workItemId = await mission.authorize();
    await mission.offer(workItemId, workers);
    const clients = await Promise.all(workers.map((worker, number) => client(worker, number % 2)));
    const answers = await Promise.all(
      clients.map((each) => each.submit(sign(each.key, mission.draft('work.accept_offer', { workItemId })))),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    const codes = answers.flatMap((answer) =>
      !answer.ok && answer.problem.kind === 'refused' ? [answer.problem.code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(['WORK_ALREADY_OWNED']));
    expect(codes).toHaveLength(19);
  });

  it('MWP-EVT-003a: one Command sent through both processes at once has one effect and one receipt', async () => {
    const clients = [await client(mission.owner, 0), await client(mission.owner, 1)];
    const draft = mission.draft('mission.cancel', { reason: 'only once' });
    const other = await Mission.create(tenant, mission.owner, mission.coordinator);
    const command = sign(mission.owner, { ...draft, groupId: other.groupId });
    const answers = await Promise.all([...clients, ...clients, ...clients].map((each) => each.submit(command)));
    const receipts = answers.map((answer) => (answer.ok ? JSON.stringify(answer.value.receipt) : 'refused'));
    expect(new Set(receipts).size).toBe(1);
    expect(receipts[0]).toContain('mission.cancel');
    expect(answers.filter((answer) => answer.ok && !answer.value.duplicate)).toHaveLength(1);
  });

  it('MWP-SDV-010b: a key that is revoked through one process is refused by the other with the next Command', async () => {
    const worker = await tenant.agent('leaver');
    await mission.join(worker);
    const there = await client(worker, 1);
    const propose = () =>
      sign(worker, mission.draft('work.propose', { proposalId: id(), contract: mission.contract() }));
    expect(await there.submit(propose())).toMatchObject({ ok: true });
    await tenant.store.organizations.changeRegistry(tenant.organization.organizationId, {
      validity: [{ keyId: worker.keyId, recordedAt: tenant.now(), revokedAt: tenant.now() }],
    });
    // The token, too, may already be dead; either answer refuses.
    const answer = await there.submit(propose());
    expect(answer.ok).toBe(false);
    expect(!answer.ok && answer.problem.kind === 'refused' && answer.problem.code).toMatch(
      /AUTH_INVALID_SIGNATURE|AUTH_REQUIRED/,
    );
  });

  it('MWP-FND-016: a session opened through one process fences the runtime that talks to the other', async () => {
    const worker = await tenant.agent('twice');
    await mission.join(worker);
    const old = await client(worker, 0);
    expect(await (await client(worker, 1)).openSession()).toMatchObject({ ok: true });
    const answer = await old.submit(
      sign(worker, mission.draft('work.propose', { proposalId: id(), contract: mission.contract() })),
    );
    expect(!answer.ok && answer.problem.kind === 'refused' && answer.problem.code).toBe('AUTH_STALE_SESSION');
  });
});
