// What PostgreSQL keeps of deleted bytes, rewritten by the owner of the tables: dead rows, samples of column values, and the
// write-ahead log, whose files are renamed and used again with their old bytes in them. Not for the service, which owns nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { StoreFault } from '../port.ts';
import { faultOf } from './faults.ts';

/** That bodies and texts, and sealed ones, were deleted from. */
const TABLES = ['events', 'commands', 'documents', 'texts', 'blobs', 'blob_pieces'];
/** A transaction that began before an erasure keeps its dead rows alive. Milliseconds. */
const HORIZON_MAXIMUM_MS = 60_000;
const HORIZON_PAUSE_MS = 200;
const CHECKPOINTS_MAXIMUM = 5;
/** 64 GiB of log files of the usual size: more of them than that lie ahead of no server. */
const SWITCHES_MAXIMUM = 4_096;

/** Who still sees, or may be made to see, what was deleted before the transaction $1. */
const BEHIND = `SELECT
    (SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
       AND (datname = current_database() OR datname IS NULL) AND age(backend_xmin) > age($1::xid))
    + (SELECT count(*) FROM pg_prepared_xacts WHERE age(transaction) > age($1::xid))
    + (SELECT count(*) FROM pg_replication_slots WHERE xmin IS NOT NULL AND age(xmin) > age($1::xid)) AS count`;
const EMIT = `SELECT pg_logical_emit_message(true, 'mwp', 'scrub')`;
const WAL_FILES = `SELECT name FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' ORDER BY name`;
/** Without the timeline, so that they can be compared. */
const placeOf = (file: string) => file.slice(8);

/**
 * Answers how many erasures are scrubbed now. `told` hears of each step. Rejects with StoreFault where something would be left, and
 * then none is. The tables are locked while they are rewritten, one after the other.
 */
export async function scrubPostgres(url: string, told: (step: string) => void): Promise<number> {
  const warnings: string[] = [];
  const sql = postgres(url, {
    max: 1,
    max_lifetime: null,
    fetch_types: false,
    onnotice: ({ severity, message }) => void (severity === 'WARNING' && warnings.push(message ?? '')),
  });
  try {
    const removed = await removedErasures(sql);
    if (removed.length === 0) return 0;
    told(`${removed.length} erasures to scrub; waiting for transactions that began before them`);
    await passHorizon(sql);
    for (const table of TABLES) {
      told(`rewriting ${table}`);
      await sql.unsafe(`VACUUM (FULL, ANALYZE) mwp.${table}`);
    }
    told('rewriting the samples that the planner keeps');
    await sql.unsafe('VACUUM FULL pg_catalog.pg_statistic');
    // VACUUM passes over what it may not rewrite, and says so in a warning alone.
    if (warnings.length > 0)
      throw new StoreFault('conflict', `not everything may be rewritten: ${warnings.join('; ')}`);
    told('writing over the write-ahead log');
    await writeOverLog(sql);
    for (const { organizationId, orderedBy } of removed) await note(sql, organizationId, orderedBy);
    return removed.length;
  } catch (error) {
    throw faultOf(error);
  } finally {
    await sql.end({ timeout: 5 });
  }
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

/** VACUUM FULL copies dead rows that somebody can still see. */
async function passHorizon(sql: postgres.Sql): Promise<void> {
  const [now] = await sql.unsafe<{ xid: string }[]>('SELECT pg_current_xact_id()::xid::text AS xid');
  const deadline = performance.now() + HORIZON_MAXIMUM_MS;
  for (;;) {
    const [behind] = await sql.unsafe<{ count: string }[]>(BEHIND, [now?.xid ?? '']);
    if (Number(behind?.count) === 0) return;
    if (performance.now() > deadline)
      throw new StoreFault(
        'busy',
        'a transaction or a replication slot is older than the erasures and still sees them',
      );
    await sleep(HORIZON_PAUSE_MS);
  }
}

/**
 * All that was written before lies in files up to the present one. A checkpoint lets go of them: they are removed, or named
 * anew to be written later. These are then written through, to their ends.
 */
async function writeOverLog(sql: postgres.Sql): Promise<void> {
  await advance(sql);
  const begun = await present(sql);
  const held = async () => (await logFiles(sql)).filter((file) => placeOf(file) < placeOf(begun));
  for (let times = 0; times < CHECKPOINTS_MAXIMUM; times += 1) {
    await sql.unsafe('CHECKPOINT');
    if ((await held()).length === 0) break;
    await advance(sql);
  }
  const kept = (await held()).length;
  if (kept > 0)
    throw new StoreFault('busy', `${kept} files of the write-ahead log are kept: wal_keep_size, a slot or an archiver`);
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
