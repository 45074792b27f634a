// What `npm run test:fault` can be told.
import { parseArgs } from 'node:util';
import { NAMED_POINTS, type NamedPoint } from '../../src/store/port.ts';
import type { Engine } from '../bench/places.ts';

/** What the service promises: so many at random points, on each store. */
const KILLS_DEFAULT = 200;
const SEED_MAXIMUM = 0xffff_ffff;

export interface Options {
  kills: number;
  seed: number;
  engines: Engine[];
  /** Absent: all of them, once each. */
  point?: NamedPoint;
  /** By name; absent: all. */
  only?: string;
}

const HELP = `npm run test:fault -- [options]

Kills the service under load at random moments and at each named point, kills the database, cuts connections, fills the
disk and holds the process, and looks after each whether all that was answered is there and nothing is there by half.

  --kills N        at random moments, on each store (${KILLS_DEFAULT})
  --engine NAME    sqlite or postgres, else both
  --point NAME     this named point only, else each of them once:
                   ${NAMED_POINTS.join(' ')}
  --only NAME      one chapter: first-start, points, pauses, exports, kills, erasures, full-disk;
                   on PostgreSQL also sessions, database, lost-answers, two-processes
  --seed N         repeats the choices of an earlier run; the moments themselves are the machine's`;

/** Undefined: the help was asked for. Throws for what it does not understand. */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: 'string' },
      engine: { type: 'string' },
      point: { type: 'string' },
      only: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return void console.log(HELP);
  const { engine, point, only } = values;
  if (engine !== undefined && engine !== 'sqlite' && engine !== 'postgres')
    throw new Error(`no such engine: ${engine}`);
  const named = NAMED_POINTS.find((name) => name === point);
  if (point !== undefined && named === undefined) throw new Error(`no such point: ${point}`);
  return {
    kills: whole(values.kills ?? String(KILLS_DEFAULT), 'kills'),
    seed: values.seed === undefined ? Math.floor(Math.random() * SEED_MAXIMUM) : whole(values.seed, 'seed'),
    engines: engine === undefined ? ['sqlite', 'postgres'] : [engine],
    ...(named !== undefined && { point: named }),
    ...(only !== undefined && { only }),
  };
}

function whole(text: string, name: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`--${name} must be a whole number`);
  return Number(text);
}
