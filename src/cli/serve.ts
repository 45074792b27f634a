// `mwp serve` and `mwp migrate`.
import { readConfig, readStorageConfig } from '../config.ts';
import { startService } from '../main.ts';
import { migrateDatabase } from '../storage.ts';
import { CommandFault, DONE, FAILED, print, readOptions, type CliCommand } from './command-line.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const ENVIRONMENT_HELP = `Environment:
  DATABASE_URL            postgres://…; without it SQLite under MWP_DATA_DIR
  MWP_DATA_DIR            folder of the SQLite file and of a local master key (./data)
  MWP_HOST                address to listen on (127.0.0.1)
  MWP_PORT                port, 0 for any free one (8080)
  MWP_MASTER_KEY          32 bytes in base64 that seal the tenants' keys; needed along with DATABASE_URL,
                          otherwise kept in MWP_DATA_DIR/master.key
  MWP_OPERATOR_TOKEN      24 or more characters; without it there is no operator API
  MWP_LOG_LEVEL           fatal, error, warn, info, debug, trace or silent (info)
  MWP_DATABASE_POOL_SIZE  PostgreSQL connections of this process (10)
  MWP_METRICS_PORT        port of a listener for Prometheus, without a token; otherwise /metrics takes the operator's
  MWP_METRICS_HOST        address that it listens on (127.0.0.1)
  MWP_DRAIN_DELAY         milliseconds between "not ready" and taking no more connections, when told to stop (0)
  OTEL_EXPORTER_OTLP_ENDPOINT  traces go there over OTLP/HTTP; OpenTelemetry's other variables count, too

DATABASE_URL, MWP_MASTER_KEY and MWP_OPERATOR_TOKEN may stand in a file instead: NAME_FILE is its path.`;

export const serve: CliCommand = {
  name: 'serve',
  summary: 'run the Group Authority',
  help: `mwp serve

Migrates the database, listens, and stops cleanly on SIGINT or SIGTERM.

${ENVIRONMENT_HELP}`,

  async run(args) {
    readOptions(args, {});
    // From the beginning: the first process of a container is not ended by a signal that it does not hear.
    const signal = nextSignal();
    const starting = startService(readConfig(process.env)).catch(explainStart);
    const service = await Promise.race([starting, signal.then(() => undefined)]);
    if (service === undefined) return endNow(starting);
    await signal;
    // A second one, whichever it is, means: now.
    void nextSignal().then(() => process.exit(FAILED));
    await service.stop();
    return DONE;
  },
};

export const migrate: CliCommand = {
  name: 'migrate',
  summary: 'bring the database to the schema of this release',
  help: `mwp migrate

${ENVIRONMENT_HELP}`,

  async run(args) {
    readOptions(args, {});
    await migrateDatabase(readStorageConfig(process.env));
    print('the database is up to date');
    return DONE;
  },
};

/** Whatever the start is at, perhaps a long migration, the database takes back: it was not committed. */
function endNow(starting: Promise<unknown>): never {
  starting.catch(() => undefined);
  process.exit(FAILED);
}

function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    const heard = () => {
      for (const signal of STOP_SIGNALS) process.off(signal, heard);
      resolve();
    };
    for (const signal of STOP_SIGNALS) process.on(signal, heard);
  });
}

function explainStart(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') throw new CommandFault('MWP_PORT is in use by another process.');
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    throw new CommandFault('MWP_HOST is no address of this machine.');
  if (code === 'EACCES') throw new CommandFault('MWP_PORT is not permitted to this user.');
  throw error;
}
