// The operator's commands speak the operator API: of a running service (--url), or of one composed in this process over
// the configured database, without a network. So there is one way to make a tenant, whoever asks.
import { randomBytes } from 'node:crypto';
import { readConfig, readOperatorToken } from '../config.ts';
import { composeService } from '../main.ts';
import { createLogger } from '../platform/logger.ts';
import { CommandFault, UsageFault } from './command-line.ts';

export const URL_OPTION = { url: { type: 'string' } } as const;

export const WHERE_HELP = `  --url URL   of a running service, whose MWP_OPERATOR_TOKEN must be in the environment; without it the
              database of the environment is used directly (DATABASE_URL, or SQLite under MWP_DATA_DIR)`;

/** Milliseconds; a command line that hangs tells nobody anything. */
const ANSWER_MAXIMUM = 30_000;

export interface OperatorConnection {
  /** The answer's body. Throws CommandFault with code and message of a refusal. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
}

export async function withOperator<Result>(
  url: string | undefined,
  work: (operator: OperatorConnection) => Promise<Result>,
): Promise<Result> {
  return url === undefined ? inProcess(work) : work(connection(remote(url)));
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

function remote(url: string): Send {
  const token = readOperatorToken(process.env);
  if (!token) throw new UsageFault('--url needs MWP_OPERATOR_TOKEN in the environment');
  if (!/^https?:\/\//.test(url)) throw new UsageFault('--url must begin with http:// or https://');
  return async (path, init) => {
    try {
      const signal = AbortSignal.timeout(ANSWER_MAXIMUM);
      return await fetch(url.replace(/\/+$/, '') + path, {
        ...init,
        headers: headers(token),
        signal,
        redirect: 'error',
      });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new CommandFault(`${url} does not answer: ${cause}`);
    }
  };
}

async function inProcess<Result>(work: (operator: OperatorConnection) => Promise<Result>): Promise<Result> {
  const operatorToken = randomBytes(32).toString('base64url'); // known to nobody but this call
  const config = { ...readConfig(process.env), operatorToken };
  const { app, lifecycle } = await composeService(config, { logger: createLogger('error', process.stderr) });
  try {
    return await work(
      connection(async (path, init) => app.request(path, { ...init, headers: headers(operatorToken) })),
    );
  } finally {
    await lifecycle.stop();
  }
}

function headers(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
}

function connection(send: Send): OperatorConnection {
  return {
    async call(method, path, body) {
      const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const response = await send(`/v1/operator${path}`, init);
      const text = await response.text();
      const answer = parsed(text);
      if (response.ok) return answer;
      const { code, message } = (answer ?? {}) as { code?: string; message?: string };
      throw new CommandFault(code ? `${code}: ${message}` : `HTTP ${response.status}`);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
