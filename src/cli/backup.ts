// `mwp backup`: a copy of the local database while the service runs.
import { resolve } from 'node:path';
import { readStorageConfig } from '../config.ts';
import { backUpLocalDatabase } from '../storage.ts';
import { CommandFault, DONE, print, readOptions, required, type CliCommand } from './command-line.ts';

export const backup: CliCommand = {
  name: 'backup',
  summary: 'copy the SQLite database while the service runs',
  help: `mwp backup --out FILE

Writes the SQLite database under MWP_DATA_DIR, as it is at one moment, to a new FILE that only you may read. The service
may go on. To restore, put FILE as mwp.db and the master key as master.key into an empty folder, name that folder in
MWP_DATA_DIR, and let mwp verify prove it. A PostgreSQL database is copied with pg_dump, see docs/deployment.md.

  --out FILE  must not exist`,

  async run(args) {
    const { out } = readOptions(args, { out: { type: 'string' } });
    const target = resolve(required(out, '--out'));
    const config = readStorageConfig(process.env);
    if (config.database.engine !== 'sqlite') {
      throw new CommandFault('a PostgreSQL database is copied with pg_dump, see docs/deployment.md');
    }
    const bytes = backUpLocalDatabase(config, target);
    print(`${target}  ${bytes} bytes, whole`);
    print('The master key is not in it. Without that key the copy is of no use: keep it elsewhere.');
    return DONE;
  },
};
