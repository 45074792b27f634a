// What PostgreSQL keeps of deleted bytes, rewritten by the owner of the tables: dead rows, samples of column values, and the
// write-ahead log, whose files are renamed and used again with their old bytes in them. Not for the service, which owns nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { StoreFault } from '../port.ts';
import { faultOf } from './faults.ts';

/** What bodies and texts, and sealed ones, were deleted from. */
const COLUMNS = [
  { table: 'mwp.events', column: 'body', type: 'text COLLATE "C"' },
  { table: 'mwp.commands', column: 'body', type: 'text COLLATE "C"' },
  { table: 'mwp.documents', column: 'body', type: 'text COLLATE "C"' },
  { table: 'mwp.texts', column: 'value', type: 'text COLLATE "C"' },
  { table: 'mwp.blob_pieces', column: 'bytes', type: 'bytea' },
];
const SAMPLES = 'pg_catalog.pg_statistic';
/** Who waits for a table makes everybody wait who wants it later. */
const LOCK_WAIT_MS = 400;
/** For a table, for a transaction that began before an erasure, for an archiver. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1_000;
/** 64 GiB of log files of the usual size: more of them than that lie ahead of no server. */
const SWITCHES_MAXIMUM = 4_096;

const LOCK_NOT_AVAILABLE = '55P03';
const RIGHTS = `SELECT current_user AS role,
    has_function_privilege('pg_switch_wal()', 'EXECUTE') AND has_function_privilege('pg_ls_waldir()', 'EXECUTE')
      AND (pg_has_role('pg_checkpoint', 'USAGE') OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user))
    AS is_enough`;
const EMIT = `SELECT pg_logical_emit_message(true, 'mwp', 'scrub')`;
const WAL_FILES = `SELECT name FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' ORDER BY name`;
/** Without the timeline, so that they can be compared. */
const placeOf = (file: string) => file.slice(8);

/**
 * Answers how many erasures are scrubbed now. `told` hears of each step. Rejects with StoreFault where something would be left, and
 * then none is. The tables are locked while they are rewritten, one after the other. `patience`: milliseconds in all.
 */
export async function scrubPostgres(
  url: string,
  told: (step: string) => void,
  patience = PATIENCE_MS,
): Promise<number> {
  const notices: postgres.Notice[] = [];
  const sql = postgres(url, {
    max: 1,
    max_lifetime: null,
    fetch_types: false,
    onnotice: (notice) => void notices.push(notice),
    connection: { lock_timeout: LOCK_WAIT_MS },
  });
  const pause = pauses(told, patience);
  try {
    await mayScrub(sql);
    const removed = await removedErasures(sql);
    if (removed.length === 0) return 0;
    told(`${removed.length} erasures to scrub`);
    for (const { table, column, type } of COLUMNS) {
      // It is of that type already: nothing changes, but samples of it go, also those of a table that is empty now.
      const before = `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`;
      await rewrite(sql, notices, { table, before, told, pause });
    }
    await rewrite(sql, notices, { table: SAMPLES, told, pause });
    told('writing over the write-ahead log');
    await writeOverLog(sql, pause);
    for (const { organizationId, orderedBy } of removed) await note(sql, organizationId, orderedBy);
    return removed.length;
  } catch (error) {
    throw faultOf(error);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Before hours of rewriting, and not after them. */
async function mayScrub(sql: postgres.Sql): Promise<void> {
  const [rights] = await sql.unsafe<{ role: string; is_enough: boolean }[]>(RIGHTS);
  if (rights?.is_enough === true) return;
  const { role = 'it' } = rights ?? {};
  const grants = `GRANT pg_monitor, pg_checkpoint TO ${role}; GRANT EXECUTE ON FUNCTION pg_switch_wal() TO ${role}`;
  throw new StoreFault('conflict', `${role} may not write over the write-ahead log: ${grants}`);
}

/** Throws StoreFault 'busy' when all patience is used up. */
type Pause = (why: string) => Promise<void>;

function pauses(told: (step: string) => void, patience: number): Pause {
  const deadline = performance.now() + patience;
  return async (why) => {
    if (performance.now() + PAUSE_MS > deadline) throw new StoreFault('busy', why);
    told(`waiting: ${why}`);
    await sleep(PAUSE_MS);
  };
}

interface Rewriting {
  table: string;
  /** In a transaction of its own. */
  before?: string;
  told: (step: string) => void;
  pause: Pause;
}

/** Dead rows that somebody may still see are copied along: then it is done again. */
async function rewrite(sql: postgres.Sql, notices: postgres.Notice[], { table, before, told, pause }: Rewriting) {
  told(`rewriting ${table}`);
  for (;;) {
    notices.length = 0;
    try {
      if (before !== undefined) await sql.unsafe(before);
      await sql.unsafe(`VACUUM (FULL, VERBOSE, ANALYZE) ${table}`);
    } catch (error) {
      if (!(error instanceof postgres.PostgresError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      await pause(`${table} is in use`);
      continue;
    }
    // It passes over what it may not rewrite, and says so in a warning alone.
    const warning = notices.find(({ severity }) => severity === 'WARNING');
    if (warning) throw new StoreFault('conflict', `not everything may be rewritten: ${warning['message'] ?? table}`);
    const dead = deadRows(notices);
    if (dead === 0) return;
    await pause(`${table} keeps ${dead} dead rows for a transaction or a replication slot that is older than them`);
  }
}

/** Told by VERBOSE, whatever the role may see of others: the detail begins with the number, in every language. */
function deadRows(notices: readonly postgres.Notice[]): number {
  const numbers = notices.flatMap(({ detail }) => /^(\d+) /.exec(detail ?? '')?.[1] ?? []);
  if (numbers.length === 0) throw new StoreFault('corrupt', 'VACUUM did not tell what it kept');
  return Math.max(...numbers.map(Number));
}

interface Removed {
  organizationId: string;
  orderedBy: string;
}

async function removedErasures(sql: postgres.Sql): Promise<Removed[]> {
  const organizations = await sql.begin(async (transaction) => {
    await transaction.unsafe('SET LOCAL ROLE mwp_authority');
    return transaction<{ organization_id: string }[]>`
      SELECT organization_id FROM mwp.organizations_beyond('', ${String(Number.MAX_SAFE_INTEGER)}::bigint)`;
  });
  const found: Removed[] = [];
  for (const { organization_id: organizationId } of organizations) {
    const rows = await sql.begin(async (transaction) => {
      await transaction`SELECT set_config('mwp.organization', ${organizationId}, true)`;
      return transaction<{ ordered_by: string }[]>`SELECT ordered_by FROM mwp.erasures
        WHERE organization_id = ${organizationId} AND state = 'removed' AND state >= ''`;
    });
    found.push(...rows.map(({ ordered_by: orderedBy }) => ({ organizationId, orderedBy })));
  }
  return found;
}

async function note(sql: postgres.Sql, organizationId: string, orderedBy: string): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT set_config('mwp.organization', ${organizationId}, true)`;
    await transaction`UPDATE mwp.erasures SET state = 'scrubbed', scrubbed_at = mwp.clock_text()
      WHERE organization_id = ${organizationId} AND ordered_by = ${orderedBy} AND state = 'removed'`;
  });
}

/**
 * All that was written before lies in files up to the present one. A checkpoint lets go of them: they are removed, or named
 * anew to be written later. These are then written through, to their ends.
 */
async function writeOverLog(sql: postgres.Sql, pause: Pause): Promise<void> {
  await advance(sql);
  const begun = await present(sql);
  for (;;) {
    await sql.unsafe('CHECKPOINT');
    const kept = (await logFiles(sql)).filter((file) => placeOf(file) < placeOf(begun)).length;
    if (kept === 0) break;
    await pause(`${kept} files of the write-ahead log are kept: wal_keep_size, a slot or an archiver`);
    await advance(sql);
  }
  const last = (await logFiles(sql)).at(-1) ?? begun;
  for (let times = 0; placeOf(await present(sql)) <= placeOf(last); times += 1) {
    if (times === SWITCHES_MAXIMUM) throw new StoreFault('busy', 'the write-ahead log has no end');
    await advance(sql);
  }
  await sql.unsafe('CHECKPOINT');
}

/** Into the next file; the rest of this one is filled with zeros. */
async function advance(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(EMIT);
  await sql.unsafe('SELECT pg_switch_wal()');
  await sql.unsafe(EMIT);
}

async function present(sql: postgres.Sql): Promise<string> {
  const [row] = await sql.unsafe<{ name: string }[]>('SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS name');
  return row?.name ?? '';
}

async function logFiles(sql: postgres.Sql): Promise<string[]> {
  return (await sql.unsafe<{ name: string }[]>(WAL_FILES))
    .map(({ name }) => name)
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}
