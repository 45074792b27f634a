// The environment, parsed once into one frozen object. A wrong value stops the start with a sentence that names it.
import { resolve } from 'node:path';
import { LOG_LEVELS, type LogLevel } from './platform/logger.ts';
import { decodeMasterKey } from './platform/master-key.ts';

export type DatabaseConfig =
  { readonly engine: 'sqlite' } | { readonly engine: 'postgres'; readonly url: string; readonly poolSize: number };

export interface Config {
  readonly database: DatabaseConfig;
  /** Absolute path: the SQLite file and the master key of a local start. */
  readonly dataDirectory: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: a local start keeps one in a file under the data folder. */
  readonly masterKey?: Uint8Array;
  /** Absent: there is no operator API. */
  readonly operatorToken?: string;
  readonly logLevel: LogLevel;
}

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

/** Throws ConfigFault. An empty value counts as unset, as `NAME=` in a compose file means it. */
export function readConfig(environment: Environment): Config {
  const database = readDatabase(environment);
  const masterKey = readMasterKey(environment, database);
  const operatorToken = readOperatorToken(environment);
  return Object.freeze({
    database: Object.freeze(database),
    dataDirectory: resolve(valueOf(environment, 'MWP_DATA_DIR') ?? './data'),
    host: valueOf(environment, 'MWP_HOST') ?? '127.0.0.1',
    port: wholeNumber(environment, 'MWP_PORT', { byDefault: 8080, least: 0, most: 65_535 }),
    ...(masterKey && { masterKey }),
    ...(operatorToken !== undefined && { operatorToken }),
    logLevel: readLogLevel(environment),
  });
}

function readDatabase(environment: Environment): DatabaseConfig {
  const poolSize = wholeNumber(environment, 'MWP_DATABASE_POOL_SIZE', {
    byDefault: POOL_SIZE_DEFAULT,
    least: 2, // one connection alone could wait for itself
    most: POOL_SIZE_MAXIMUM,
  });
  const url = valueOf(environment, 'DATABASE_URL');
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

function readMasterKey(environment: Environment, database: DatabaseConfig): Uint8Array | undefined {
  const text = valueOf(environment, 'MWP_MASTER_KEY');
  if (text === undefined) {
    if (database.engine === 'sqlite') return undefined;
    const why =
      'must be set along with DATABASE_URL: several processes share one key (make one: mwp key generate --master)';
    throw new ConfigFault('MWP_MASTER_KEY', why);
  }
  const key = decodeMasterKey(text);
  if (!key) throw new ConfigFault('MWP_MASTER_KEY', 'must be 32 bytes in base64 (make one: mwp key generate --master)');
  return key;
}

function readOperatorToken(environment: Environment): string | undefined {
  const token = valueOf(environment, 'MWP_OPERATOR_TOKEN');
  if (token === undefined) return undefined;
  const fits = token.length >= OPERATOR_TOKEN_MINIMUM && token.length <= OPERATOR_TOKEN_MAXIMUM;
  if (!fits || !/^[\x21-\x7e]+$/.test(token)) {
    const sentence = `must have ${OPERATOR_TOKEN_MINIMUM} to ${OPERATOR_TOKEN_MAXIMUM} printable ASCII characters without blanks`;
    throw new ConfigFault('MWP_OPERATOR_TOKEN', sentence);
  }
  return token;
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
