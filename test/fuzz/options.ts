// What one run does, from its command line.
import { parseArgs } from 'node:util';
import { FAMILIES, type Family } from './cases.ts';
import type { Engine } from './host.ts';

const HELP = `npm run test:fuzz -- [options]

  --engine sqlite|postgres  (sqlite)
  --seconds N               until so much time has passed (20, unless --count is given)
  --count N                 or so many requests were made
  --seed N                  of all cases (a random one, printed)
  --case N                  only this case of the seed: what is sent, and what is answered
  --family NAME             only ${FAMILIES.join(', ')}
  --concurrency N           requests under way at the same time (24)`;

export interface Options {
  engine: Engine;
  seconds: number;
  count: number;
  seed: number;
  case?: number;
  family?: Family;
  concurrency: number;
}

/** Undefined: help was asked for, and given. */
export function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const names = { engine: text, seconds: text, count: text, seed: text, case: text, family: text, concurrency: text };
  const { values } = parseArgs({ args, options: { ...names, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(HELP);
    return undefined;
  }
  const { engine = 'sqlite', family } = values;
  if (engine !== 'sqlite' && engine !== 'postgres') throw new Error(`no engine: ${engine}`);
  const known = FAMILIES.find((name) => name === family);
  if (family !== undefined && known === undefined) throw new Error(`no family: ${family}`);
  const bySeconds = values.count === undefined ? 20 : Infinity;
  return {
    engine,
    seconds: numberOf('seconds', values.seconds) ?? bySeconds,
    count: numberOf('count', values.count) ?? Infinity,
    seed: numberOf('seed', values.seed) ?? Math.floor(Math.random() * 2 ** 31),
    concurrency: numberOf('concurrency', values.concurrency) ?? 24,
    ...(values.case !== undefined && { case: numberOf('case', values.case) as number }),
    ...(known && { family: known }),
  };
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (value >= 0 && text.trim() !== '') return value;
  throw new Error(`--${name} must be a number of at least 0`);
}
