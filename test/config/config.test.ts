// The environment, parsed once: defaults, bounds, and a sentence that names the variable.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigFault, readConfig, readStorageConfig, type Environment } from '../../src/config.ts';
import { newMasterKeyText } from '../../src/platform/master-key.ts';

const MASTER_KEY = newMasterKeyText();
const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

function faultOf(environment: Environment): ConfigFault {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigFault) return error;
    throw error;
  }
  throw new Error('no fault');
}

describe('the configuration', () => {
  it('needs nothing: SQLite under ./data, on the loopback address', () => {
    expect(readConfig({})).toEqual({
      database: { engine: 'sqlite' },
      dataDirectory: resolve('./data'),
      blobs: { kept: 'files', directory: resolve('./data/blobs') },
      contentBytesMaximum: 67_108_864,
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
      drainDelay: 0,
    });
  });

  it('takes PostgreSQL with a master key, and all the rest', () => {
    const config = readConfig({
      DATABASE_URL: 'postgres://user:secret@db:5432/mwp',
      MWP_MASTER_KEY: MASTER_KEY,
      MWP_DATA_DIR: '/var/lib/mwp',
      MWP_HOST: '0.0.0.0',
      MWP_PORT: '0',
      MWP_OPERATOR_TOKEN: 'x'.repeat(24),
      MWP_LOG_LEVEL: 'warn',
      MWP_DATABASE_POOL_SIZE: '25',
      MWP_METRICS_PORT: '9464',
      MWP_METRICS_HOST: '10.0.0.1',
      MWP_DRAIN_DELAY: '5000',
      MWP_BLOBS_DIR: '/srv/shared/blobs',
      MWP_CONTENT_MAX_BYTES: '1000',
    });
    expect(config).toMatchObject({
      database: { engine: 'postgres', url: 'postgres://user:secret@db:5432/mwp', poolSize: 25 },
      dataDirectory: '/var/lib/mwp',
      host: '0.0.0.0',
      port: 0,
      operatorToken: 'x'.repeat(24),
      logLevel: 'warn',
      metrics: { host: '10.0.0.1', port: 9464 },
      drainDelay: 5_000,
      blobs: { kept: 'files', directory: '/srv/shared/blobs' },
      contentBytesMaximum: 1_000,
    });
    expect(readConfig({ MWP_DATA_DIR: '/var/lib/mwp' })).toMatchObject({
      blobs: { kept: 'files', directory: '/var/lib/mwp/blobs' },
    });
    expect(readConfig({ MWP_BLOBS: 'files', MWP_BLOBS_DIR: '/blobs' }).blobs).toEqual({
      kept: 'files',
      directory: '/blobs',
    });
    expect(readConfig({ MWP_BLOBS: 'database' }).blobs).toEqual({ kept: 'database' });
    expect(Buffer.from(config.masterKey ?? []).toString('base64')).toBe(MASTER_KEY);
  });

  it('is frozen, and an empty value counts as unset', () => {
    const config = readConfig({ DATABASE_URL: '', MWP_PORT: ' ', MWP_OPERATOR_TOKEN: '' });
    expect(config.port).toBe(8080);
    expect(config.operatorToken).toBeUndefined();
    expect(Object.isFrozen(config) && Object.isFrozen(config.database) && Object.isFrozen(config.blobs)).toBe(true);
  });

  const wrong: [string, Environment][] = [
    ['DATABASE_URL', { DATABASE_URL: 'mysql://user:hunter2@db/mwp', MWP_MASTER_KEY: MASTER_KEY }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://', MWP_MASTER_KEY: MASTER_KEY }],
    ['MWP_MASTER_KEY', { DATABASE_URL: 'postgres://db/mwp' }],
    ['MWP_MASTER_KEY', { MWP_MASTER_KEY: 'c2hvcnQ=' }],
    ['MWP_MASTER_KEY', { MWP_MASTER_KEY: 'no base64 at all!' }],
    ['MWP_MASTER_KEY', { MWP_MASTER_KEY: Buffer.alloc(33).toString('base64') }],
    ['MWP_PORT', { MWP_PORT: '65536' }],
    ['MWP_PORT', { MWP_PORT: '-1' }],
    ['MWP_PORT', { MWP_PORT: '80a' }],
    ['MWP_PORT', { MWP_PORT: '1e3' }],
    ['MWP_OPERATOR_TOKEN', { MWP_OPERATOR_TOKEN: 'x'.repeat(23) }],
    ['MWP_OPERATOR_TOKEN', { MWP_OPERATOR_TOKEN: `${'x'.repeat(24)} y` }],
    ['MWP_LOG_LEVEL', { MWP_LOG_LEVEL: 'loud' }],
    ['MWP_METRICS_PORT', { MWP_METRICS_PORT: 'yes' }],
    ['MWP_DRAIN_DELAY', { MWP_DRAIN_DELAY: '60001' }],
    ['MWP_BLOBS', { MWP_BLOBS: 'postgres' }],
    ['MWP_BLOBS', { MWP_BLOBS: 'Database' }],
    ['MWP_BLOBS_DIR', { MWP_BLOBS: 'database', MWP_BLOBS_DIR: '/srv/shared/blobs' }],
    ['MWP_CONTENT_MAX_BYTES', { MWP_CONTENT_MAX_BYTES: '0' }],
    ['MWP_CONTENT_MAX_BYTES', { MWP_CONTENT_MAX_BYTES: '536870913' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', { ...COLLECTOR, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['OTEL_TRACES_SAMPLER', { ...COLLECTOR, OTEL_TRACES_SAMPLER: 'jaeger_remote' }],
    ['OTEL_TRACES_SAMPLER_ARG', { ...COLLECTOR, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }],
    ['MWP_DATABASE_POOL_SIZE', { MWP_DATABASE_POOL_SIZE: '1' }],
    ['MWP_DATABASE_POOL_SIZE', { MWP_DATABASE_POOL_SIZE: '101' }],
  ];
  it.each(wrong)('%s: a wrong value stops the start with a sentence that names it', (variable, environment) => {
    const fault = faultOf(environment);
    expect(fault.variable).toBe(variable);
    expect(fault.message).toMatch(new RegExp(`^${variable} .+\\.$`));
  });

  it('traces only where OpenTelemetry’s own variables name a collector, by its rules', () => {
    const tracing = (environment: Environment) => readConfig(environment).tracing;
    const byDefault = { protocol: 'http/protobuf', serviceName: 'mwp-authority', ratio: 1, heedsParent: true };
    expect(tracing({})).toBeUndefined();
    expect(tracing(COLLECTOR)).toEqual({ ...byDefault, url: 'http://collector:4318/v1/traces' });
    expect(tracing({ ...COLLECTOR, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://other/here' })).toEqual({
      ...byDefault,
      url: 'https://other/here',
    });
    expect(tracing({ ...COLLECTOR, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
    expect(tracing({ ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
    const tenth = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' };
    expect(tracing({ ...COLLECTOR, ...tenth })).toMatchObject({ ratio: 0.1, heedsParent: false });
  });

  it('no sentence repeats a secret', () => {
    expect(faultOf({ DATABASE_URL: 'mysql://user:hunter2@db/mwp' }).message).not.toContain('hunter2');
    expect(faultOf({ MWP_MASTER_KEY: 'c2VjcmV0' }).message).not.toContain('c2VjcmV0');
    expect(faultOf({ MWP_OPERATOR_TOKEN: 'short-secret' }).message).not.toContain('short-secret');
  });
});

describe('secrets in files, as orchestrators mount them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mwp-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  it('NAME_FILE stands for NAME, and the line break at its end does not count', () => {
    const token = 'y'.repeat(32);
    const config = readConfig({
      DATABASE_URL_FILE: file('url', 'postgres://user:secret@db:5432/mwp\n'),
      MWP_MASTER_KEY_FILE: file('key', `${MASTER_KEY}\n`),
      MWP_OPERATOR_TOKEN_FILE: file('token', `${token}\n`),
    });
    expect(config.database).toMatchObject({ engine: 'postgres', url: 'postgres://user:secret@db:5432/mwp' });
    expect(Buffer.from(config.masterKey ?? []).toString('base64')).toBe(MASTER_KEY);
    expect(config.operatorToken).toBe(token);
  });

  it('a file that is not there, empty, too long, a folder, or named beside the value itself stops the start', () => {
    const name = 'MWP_OPERATOR_TOKEN_FILE';
    const faults = [
      { [name]: join(folder, 'nowhere') },
      { [name]: file('empty', '\n') },
      { [name]: file('long', 'z'.repeat(16_385)) },
      { [name]: folder },
      { [name]: file('twice', 'y'.repeat(32)), MWP_OPERATOR_TOKEN: 'x'.repeat(32) },
    ].map(faultOf);
    for (const fault of faults) {
      expect(fault.variable).toBe(name);
      expect(fault.message).not.toMatch(/yyy|xxx|zzz/);
    }
    expect(faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/cannot be read: ENOENT/),
      expect.stringMatching(/empty file/),
      expect.stringMatching(/more than 16384 bytes/),
      expect.stringMatching(/cannot be read: EISDIR/),
      expect.stringMatching(/leave one of them out/),
    ]);
  });

  it('what a file holds is judged like the value, and the sentence repeats none of it', () => {
    const fault = faultOf({ MWP_MASTER_KEY_FILE: file('bad', 'c2VjcmV0') });
    expect(fault.message).toMatch(/^MWP_MASTER_KEY must be 32 bytes/);
    expect(fault.message).not.toContain('c2VjcmV0');
  });

  it('who only looks at the database, or migrates it, needs no master key', () => {
    expect(readStorageConfig({ DATABASE_URL: 'postgres://db/mwp' }).database.engine).toBe('postgres');
  });
});
