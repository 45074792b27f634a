// What one run measures, from its command line.
import { parseArgs } from 'node:util';
import type { Engine } from './places.ts';

const HELP = `npm run bench -- [options]

  --engine sqlite|postgres  only this one; otherwise one after the other
  --seconds N               of measuring, at each point (4)
  --warm-up N               seconds of load before it (3)
  --rounds N                times that each point is measured; the median counts (1)
  --groups N                Groups of the Organization (200)
  --against FOLDER          another built checkout, measured in turns with this one
  --profile FOLDER          CPU profiles of the serving processes go there
  --growth                  instead: what a Command costs in a large Organization, as a share of that in a small one
  --events N                of the large one (100000)
  --work-items N            of the large one (2000)
  --verify                  instead: verifications a second on one core, beside those of the signature alone`;

export interface Options {
  engines: Engine[];
  seconds: number;
  warmUpSeconds: number;
  rounds: number;
  groups: number;
  against?: string;
  profile?: string;
  growth?: { events: number; workItems: number };
  verify: boolean;
}

/** Undefined: help was asked for, and given. */
export function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      engine: text,
      seconds: text,
      'warm-up': text,
      rounds: text,
      groups: text,
      against: text,
      profile: text,
      growth: { type: 'boolean' },
      events: text,
      'work-items': text,
      verify: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(HELP);
    return undefined;
  }
  const { engine, against, profile } = values;
  if (engine !== undefined && engine !== 'sqlite' && engine !== 'postgres') throw new Error(`no engine: ${engine}`);
  return {
    engines: engine === undefined ? ['sqlite', 'postgres'] : [engine],
    seconds: above(0, 'seconds', values.seconds ?? '4'),
    warmUpSeconds: above(0, 'warm-up', values['warm-up'] ?? '3'),
    rounds: above(0, 'rounds', values.rounds ?? '1'),
    groups: above(0, 'groups', values.groups ?? '200'),
    verify: values.verify,
    ...(against !== undefined && { against }),
    ...(profile !== undefined && { profile }),
    ...(values.growth && {
      growth: {
        events: above(0, 'events', values.events ?? '100000'),
        workItems: above(0, 'work-items', values['work-items'] ?? '2000'),
      },
    }),
  };
}

function above(least: number, name: string, text: string): number {
  const value = Number(text);
  if (value > least) return value;
  throw new Error(`--${name} must be a number above ${least}`);
}
