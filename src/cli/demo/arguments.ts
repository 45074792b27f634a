// The demo's command line.

import { parseArgs } from 'node:util';

export type Engine =
  | { readonly engine: 'sqlite' }
  | { readonly engine: 'postgres'; readonly databaseUrl: string }
  | { readonly engine: 'embedded-postgres' };

export type DemoArguments =
  | { readonly wants: 'demo'; readonly database: Engine; readonly paceMs: number }
  | { readonly wants: 'help' }
  | { readonly wants: 'nothing'; readonly fault: string };

export const HELP = `mwp demo: two software missions run against a real authority, over its public HTTP API

Usage: npm run demo -- [options]     or     mwp demo [options]

  --database-url postgres://…   on this PostgreSQL server: in a database that the demo creates and drops again,
                                or in the named one where its role may not create any
  --embedded-postgres           start a throwaway PostgreSQL server for the demo
                                (neither: SQLite in a temporary folder)
  --pace                        slow the telling down to reading speed, on a terminal
  --help                        this text

The demo takes away at the end what it made, also on Ctrl-C, and exits with 0 only when every check passed.
Colours follow the terminal and NO_COLOR.
`;

/** Milliseconds after each told line under --pace. */
const PACE_MS = 60;

export function parseDemoArguments(args: readonly string[]): DemoArguments {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        'database-url': { type: 'string' },
        'embedded-postgres': { type: 'boolean', default: false },
        pace: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      strict: true,
    }));
  } catch (error) {
    return { wants: 'nothing', fault: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return { wants: 'help' };
  const databaseUrl = values['database-url'];
  const embedded = values['embedded-postgres'];
  if (databaseUrl !== undefined && embedded) {
    return { wants: 'nothing', fault: 'give --database-url or --embedded-postgres, not both' };
  }
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    return { wants: 'nothing', fault: '--database-url must begin with postgres://' };
  }
  const paceMs = values.pace ? PACE_MS : 0;
  if (databaseUrl !== undefined) return { wants: 'demo', database: { engine: 'postgres', databaseUrl }, paceMs };
  if (embedded) return { wants: 'demo', database: { engine: 'embedded-postgres' }, paceMs };
  return { wants: 'demo', database: { engine: 'sqlite' }, paceMs };
}
