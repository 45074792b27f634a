// The environment, parsed once into one frozen object. A wrong value stops the start with a sentence that names it.
import { closeSync, openSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LOG_LEVELS, type LogLevel } from './platform/logger.ts';
import { decodeMasterKey } from './platform/master-key.ts';
import type { TracingConfig } from './platform/tracing.ts';
import { readTracing } from './tracing-config.ts';

export type DatabaseConfig =
  { readonly engine: 'sqlite' } | { readonly engine: 'postgres'; readonly url: string; readonly poolSize: number };

/** Where the bytes of Artifacts and snapshots lie. */
export type BlobsConfig =
  /** Absolute path; the processes of a deployment share it. */
  { readonly kept: 'files'; readonly directory: string } | { readonly kept: 'database' };

export interface Config {
  readonly database: DatabaseConfig;
  /** Absolute path: the SQLite file and the master key of a local start. */
  readonly dataDirectory: string;
  readonly blobs: BlobsConfig;
  /** Of one content. */
  readonly contentBytesMaximum: number;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: a local start keeps one in a file under the data folder. */
  readonly masterKey?: Uint8Array;
  /** Absent: there is no operator API. */
  readonly operatorToken?: string;
  readonly logLevel: LogLevel;
  /** Absent: metrics are read beside the API, with the operator token. */
  readonly metrics?: { readonly host: string; readonly port: number };
  /** Milliseconds between being told to stop and taking no more connections. */
  readonly drainDelay: number;
  /** Absent: nothing is traced. */
  readonly tracing?: TracingConfig;
}

/** What a command needs that only looks at the database, or migrates it. */
export type StorageConfig = Pick<Config, 'database' | 'dataDirectory' | 'blobs'>;

export class ConfigFault extends Error {
  readonly variable: string;
  constructor(variable: string, sentence: string) {
    super(`${variable} ${sentence}.`);
    this.name = 'ConfigFault';
    this.variable = variable;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Shorter ones can be guessed; the operator API can create tenants. */
const OPERATOR_TOKEN_MINIMUM = 24;
const OPERATOR_TOKEN_MAXIMUM = 1_024;
/** Connections of one process. A server of PostgreSQL has 100 by default, shared by all processes. */
const POOL_SIZE_DEFAULT = 10;
const POOL_SIZE_MAXIMUM = 100;
/** Milliseconds; load balancers notice within a few probes, and an orchestrator waits 30 s by default. */
const DRAIN_DELAY_MAXIMUM = 60_000;
/** Bytes; at 1 MB/s it comes in a tenth of the time that an upload has (UPLOAD_TIMEOUT of the listener). */
const CONTENT_BYTES_DEFAULT = 64 * 1_024 * 1_024;
/** Bytes; more does not come in that time on usual lines. */
const CONTENT_BYTES_MAXIMUM = 512 * 1_024 * 1_024;

/** A file with a secret in it; the longest we know is a URL with a password. */
const SECRET_FILE_BYTES_MAXIMUM = 16_384;

/**
 * Throws ConfigFault. An empty value counts as unset, as `NAME=` in a compose file means it. A secret may instead stand in
 * a file that `NAME_FILE` names, as orchestrators mount them.
 */
export function readConfig(environment: Environment): Config {
  const storage = readStorageConfig(environment);
  const masterKey = readMasterKey(environment);
  if (storage.database.engine === 'postgres' && !masterKey) {
    const why =
      'must be set along with DATABASE_URL: several processes share one key (make one: mwp key generate --master)';
    throw new ConfigFault('MWP_MASTER_KEY', why);
  }
  const operatorToken = readOperatorToken(environment);
  const metrics = readMetrics(environment);
  const tracing = readTracing(
    (variable) => valueOf(environment, variable),
    (variable, sentence) => new ConfigFault(variable, sentence),
  );
  return Object.freeze({
    ...storage,
    contentBytesMaximum: wholeNumber(environment, 'MWP_CONTENT_MAX_BYTES', {
      byDefault: CONTENT_BYTES_DEFAULT,
      least: 1,
      most: CONTENT_BYTES_MAXIMUM,
    }),
    host: valueOf(environment, 'MWP_HOST') ?? '127.0.0.1',
    port: wholeNumber(environment, 'MWP_PORT', { byDefault: 8080, least: 0, most: 65_535 }),
    ...(masterKey && { masterKey }),
    ...(operatorToken !== undefined && { operatorToken }),
    logLevel: readLogLevel(environment),
    ...(metrics && { metrics: Object.freeze(metrics) }),
    drainDelay: wholeNumber(environment, 'MWP_DRAIN_DELAY', { byDefault: 0, least: 0, most: DRAIN_DELAY_MAXIMUM }),
    ...(tracing && { tracing: Object.freeze(tracing) }),
  });
}

/** Throws ConfigFault. Asks for no master key. */
export function readStorageConfig(environment: Environment): StorageConfig {
  const dataDirectory = resolve(valueOf(environment, 'MWP_DATA_DIR') ?? './data');
  const blobs = Object.freeze(readBlobs(environment, dataDirectory));
  return Object.freeze({ database: Object.freeze(readDatabase(environment)), dataDirectory, blobs });
}

function readBlobs(environment: Environment, dataDirectory: string): BlobsConfig {
  const kept = valueOf(environment, 'MWP_BLOBS') ?? 'files';
  const directory = valueOf(environment, 'MWP_BLOBS_DIR');
  if (kept === 'files') return { kept, directory: resolve(directory ?? join(dataDirectory, 'blobs')) };
  if (kept !== 'database') throw new ConfigFault('MWP_BLOBS', 'must be files or database');
  // Which of the two was meant is not for us to guess: what lies in the folder would not be found any more.
  if (directory !== undefined) {
    throw new ConfigFault('MWP_BLOBS_DIR', 'is set, and MWP_BLOBS=database needs no folder; leave one of them out');
  }
  return { kept };
}

function readDatabase(environment: Environment): DatabaseConfig {
  const poolSize = wholeNumber(environment, 'MWP_DATABASE_POOL_SIZE', {
    byDefault: POOL_SIZE_DEFAULT,
    least: 2, // one connection alone could wait for itself
    most: POOL_SIZE_MAXIMUM,
  });
  const url = secretOf(environment, 'DATABASE_URL');
  if (url === undefined) return { engine: 'sqlite' };
  const isPostgres = /^postgres(ql)?:\/\/./.test(url) && URL.canParse(url);
  // The value holds a password, so it is not repeated.
  if (!isPostgres) throw new ConfigFault('DATABASE_URL', 'must look like postgres://user:password@host:5432/database');
  if (!isPercentEncoded(url)) {
    throw new ConfigFault('DATABASE_URL', 'must be percent-encoded: a % of the password itself is written %25');
  }
  return { engine: 'postgres', url, poolSize };
}

function isPercentEncoded(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

export function readMasterKey(environment: Environment): Uint8Array | undefined {
  const text = secretOf(environment, 'MWP_MASTER_KEY');
  if (text === undefined) return undefined;
  const key = decodeMasterKey(text);
  if (!key) throw new ConfigFault('MWP_MASTER_KEY', 'must be 32 bytes in base64 (make one: mwp key generate --master)');
  return key;
}

export function readOperatorToken(environment: Environment): string | undefined {
  const token = secretOf(environment, 'MWP_OPERATOR_TOKEN');
  if (token === undefined) return undefined;
  const fits = token.length >= OPERATOR_TOKEN_MINIMUM && token.length <= OPERATOR_TOKEN_MAXIMUM;
  if (!fits || !/^[\x21-\x7e]+$/.test(token)) {
    const sentence = `must have ${OPERATOR_TOKEN_MINIMUM} to ${OPERATOR_TOKEN_MAXIMUM} printable ASCII characters without blanks`;
    throw new ConfigFault('MWP_OPERATOR_TOKEN', sentence);
  }
  return token;
}

function readMetrics(environment: Environment): { host: string; port: number } | undefined {
  if (valueOf(environment, 'MWP_METRICS_PORT') === undefined) return undefined;
  return {
    host: valueOf(environment, 'MWP_METRICS_HOST') ?? '127.0.0.1',
    port: wholeNumber(environment, 'MWP_METRICS_PORT', { byDefault: 0, least: 0, most: 65_535 }),
  };
}

function readLogLevel(environment: Environment): LogLevel {
  const text = valueOf(environment, 'MWP_LOG_LEVEL') ?? 'info';
  const level = LOG_LEVELS.find((known) => known === text);
  if (!level) throw new ConfigFault('MWP_LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

interface Bounds {
  byDefault: number;
  least: number;
  most: number;
}

function wholeNumber(environment: Environment, variable: string, { byDefault, least, most }: Bounds): number {
  const text = valueOf(environment, variable);
  if (text === undefined) return byDefault;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new ConfigFault(variable, `must be a whole number from ${least} to ${most}`);
}

function valueOf(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim();
  return value === undefined || value === '' ? undefined : value;
}

function secretOf(environment: Environment, variable: string): string | undefined {
  const value = valueOf(environment, variable);
  const inFile = `${variable}_FILE`;
  const path = valueOf(environment, inFile);
  if (path === undefined) return value;
  // Which of the two was meant is not for us to guess.
  if (value !== undefined) throw new ConfigFault(inFile, `is set, and ${variable} too; leave one of them out`);
  const content = readSecretFile(inFile, path).trim();
  if (content === '') throw new ConfigFault(inFile, 'names an empty file');
  return content;
}

function readSecretFile(variable: string, path: string): string {
  const bytes = Buffer.alloc(SECRET_FILE_BYTES_MAXIMUM + 1);
  let length: number;
  try {
    const file = openSync(path, 'r');
    try {
      length = readSync(file, bytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new ConfigFault(variable, `names a file that cannot be read: ${(error as Error).message}`);
  }
  if (length > SECRET_FILE_BYTES_MAXIMUM) {
    throw new ConfigFault(variable, `names a file of more than ${SECRET_FILE_BYTES_MAXIMUM} bytes`);
  }
  return bytes.toString('utf8', 0, length);
}
