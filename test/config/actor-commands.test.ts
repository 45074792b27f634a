// `mwp token` and `mwp sign`: an actor with a key file and a plain HTTP client is all that the API needs.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { startService, type RunningService } from '../../src/main.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { agentCard } from '../transport/cards.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const TOKEN = 'an-operator-token-for-tests';
const OLGA = 'human:urn:test:olga';
const CORA = 'agent:urn:test:cora';

let folder: string;
let service: RunningService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mwp-actor-'));
  const config = readConfig({ MWP_DATA_DIR: join(folder, 'data'), MWP_PORT: '0', MWP_OPERATOR_TOKEN: TOKEN });
  service = await startService(config, { logger: createLogger('silent') });
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** As a process of its own. */
async function mwp(args: string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args]);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  child.stdin.on('error', () => undefined).end(input);
  const code = await new Promise<number>((resolve) => child.on('close', (ended) => resolve(ended ?? -1)));
  return { code, ...output };
}

async function call(method: string, path: string, token: string, body?: unknown) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function newKey(name: string) {
  const file = join(folder, `${name}.json`);
  const { stdout } = await mwp(['key', 'generate', '--out', file]);
  return { file, ...(JSON.parse(stdout) as { keyId: string; publicKey: string }) };
}

describe('an actor on the command line', () => {
  let olga: Awaited<ReturnType<typeof newKey>>;
  let cora: Awaited<ReturnType<typeof newKey>>;
  beforeAll(async () => {
    [olga, cora] = await Promise.all([newKey('olga'), newKey('cora')]);
    await call('POST', '/v1/operator/organizations', TOKEN, { slug: 'acme', displayName: 'Acme' });
    const { keyId, publicKey } = olga;
    const principal = { type: 'human', id: 'urn:test:olga' };
    const human = { principal, displayName: 'Olga', keys: [{ keyId, publicKey }] };
    expect(await call('POST', '/v1/operator/organizations/acme/principals', TOKEN, human)).toMatchObject({
      status: 201,
    });
    const card = agentCard({ ...cora, principal: { type: 'agent', id: 'urn:test:cora' } } as never);
    expect(await call('POST', '/v1/operator/organizations/acme/agents', TOKEN, { card })).toMatchObject({
      status: 201,
    });
  });

  it('logs in, signs a draft, and a repeat of the printed bytes is a duplicate', async () => {
    const where = ['--org', 'acme', '--url', service.url];
    const session = await mwp(['token', ...where, '--principal', CORA, '--key', cora.file, '--session']);
    expect([session.code, session.stderr]).toEqual([0, 'session epoch 1\n']);
    const loggedIn = await mwp(['token', ...where, '--principal', OLGA, '--key', olga.file]);
    expect([loggedIn.code, loggedIn.stderr]).toEqual([0, '']);
    const groupId = 'urn:test:group:1';
    const draft = {
      kind: 'mission.create',
      groupId,
      payload: {
        missionId: 'urn:test:mission:1',
        groupId,
        coordinatorId: 'urn:test:cora',
        title: 'Release 2.0',
        objective: 'Ship release 2.0',
        definitionOfDone: [{ criterionId: 'shipped', description: 'It is out', evidenceRequired: ['human_review'] }],
        budget: { modelTokenLimit: 1_000 },
        deadline: '2099-01-01T00:00:00Z',
        approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true },
      },
    };
    const signed = await mwp(['sign', '--principal', OLGA, '--key', olga.file], JSON.stringify(draft));
    expect([signed.code, signed.stderr]).toEqual([0, '']);
    const token = loggedIn.stdout.trim();
    const first = await call('POST', '/v1/orgs/acme/commands', token, signed.stdout);
    expect([first.status, first.body['duplicate']]).toEqual([200, false]);
    const again = await call('POST', '/v1/orgs/acme/commands', token, signed.stdout);
    expect([again.status, again.body]).toEqual([200, { ...first.body, duplicate: true }]);

    const said = { kind: 'work.propose', groupId, payload: {} };
    const epochs = ['--session-epoch', '1', '--membership-epoch', '2', '--coordinator-epoch', '3'];
    const carried = await mwp(['sign', '--principal', CORA, '--key', cora.file, ...epochs], JSON.stringify(said));
    expect(JSON.parse(carried.stdout)).toMatchObject({ sessionEpoch: 1, membershipEpoch: 2, coordinatorEpoch: 3 });
  });

  it('says in one sentence what is wrong with a key, a draft or a login', async () => {
    const noKey = join(folder, 'no-key.json');
    writeFileSync(noKey, JSON.stringify({ keyId: 'k', seed: 'AAAA' }));
    const sign = (file: string, draft: string, ...more: string[]) =>
      mwp(['sign', '--principal', OLGA, '--key', file, ...more], draft);
    for (const [outcome, code, sentence] of [
      [sign(noKey, '{}'), 1, /^mwp: .*no-key\.json holds no key: .*\n$/],
      [sign(join(folder, 'absent'), '{}'), 1, /^mwp: cannot read .*absent: .*\n$/],
      [sign(olga.file, 'nonsense'), 1, /^mwp: standard input holds no JSON object with kind and payload\n$/],
      [sign(olga.file, '{"kind":"message.post","payload":{},"x":1}'), 1, /^mwp: this is no Command: .*/],
      [sign(olga.file, '{}', '--session-epoch', '0'), 2, /^mwp: --session-epoch must be a whole number from 1\n/],
      [mwp(['sign', '--principal', 'olga', '--key', olga.file]), 2, /^mwp: --principal must look like /],
      [
        mwp(['token', '--org', 'acme', '--url', service.url, '--principal', OLGA, '--key', cora.file]),
        1,
        /^mwp: no token: AUTH_INVALID_SIGNATURE: .*\n$/,
      ],
    ] as const) {
      const { code: ended, stdout, stderr } = await outcome;
      expect([ended, stdout, stderr]).toEqual([code, '', expect.stringMatching(sentence)]);
    }
  });
});
