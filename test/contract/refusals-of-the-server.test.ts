// Which SQLSTATE is which fault, and which ones are run again: a closed list, each one seen.
import postgres from 'postgres';
import { describe, expect, it } from 'vitest';
import { faultOf, worthAnotherRun } from '../../src/store/postgres/faults.ts';
import { withRetries } from '../../src/store/postgres/retries.ts';

/** As the driver throws it; its constructor is not in its type declarations. */
function refusal(code: string, constraint?: string): Error {
  const Refusal = postgres.PostgresError as unknown as new (fields: object) => Error;
  return new Refusal({ code, message: `SECRET of ${code}`, constraint_name: constraint });
}

describe('what the server says', () => {
  it.each([
    ['40001', 'busy', 'serialization failure'],
    ['40P01', 'busy', 'deadlock'],
    ['55P03', 'busy', 'lock timeout'],
    ['57014', 'busy', 'statement timeout'],
    ['23505', 'conflict', 'unique'],
    ['23503', 'conflict', 'foreign key'],
    ['23514', 'conflict', 'check'],
    ['MW001', 'conflict', 'compare-and-set'],
    ['MW002', 'conflict', 'immutable'],
    ['MW003', 'conflict', 'gap'],
    ['08006', 'unavailable', 'connection failure'],
    ['53300', 'unavailable', 'too many connections'],
    ['53100', 'unavailable', 'disk full'],
    ['57P01', 'unavailable', 'shutting down'],
    ['57P03', 'unavailable', 'starting up'],
    ['58030', 'unavailable', 'I/O error'],
    ['25P03', 'unavailable', 'idle in transaction'],
    ['XX001', 'corrupt', 'data corrupted'],
    ['42P01', 'corrupt', 'a table is missing'],
    ['22P05', 'corrupt', 'not a text'],
  ])('%s is %s: %s', (code, kind) => {
    expect(faultOf(refusal(code))).toMatchObject({ name: 'StoreFault', kind });
  });

  it('what the server did not say is about the way to it', () => {
    for (const code of ['ECONNREFUSED', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT', 'EPIPE']) {
      expect(faultOf(Object.assign(new Error('no'), { code }))).toMatchObject({ kind: 'unavailable' });
    }
  });

  it('run again: lost races, and rows that are appended once; nothing else', () => {
    const again = (code: string, constraint?: string) => worthAnotherRun(faultOf(refusal(code, constraint)));
    for (const code of ['40001', '40P01', '55P03', 'MW005']) expect(again(code)).toBe('lost_race');
    for (const name of ['receipts_pkey', 'admissions_pkey', 'commands_pkey']) {
      expect(again('23505', name)).toBe('appended_once');
    }
    expect(again('23505', 'events_event_id')).toBeUndefined();
    expect(again('23505', 'aggregates_pkey')).toBeUndefined();
    for (const code of ['MW001', 'MW003', '57014', '57P01', '08006', '22P05']) expect(again(code)).toBeUndefined();
  });

  it('a race that is lost every time ends after five runs, as busy', async () => {
    let runs = 0;
    const losing = withRetries(() => {
      runs += 1;
      return Promise.reject(faultOf(refusal('40001')));
    });
    await expect(losing).rejects.toMatchObject({ kind: 'busy' });
    expect(runs).toBe(5);
  });

  it('an exception that is not of the database is not run again', async () => {
    let runs = 0;
    const failure = new Error('ours');
    const failing = withRetries(() => {
      runs += 1;
      return Promise.reject(failure);
    });
    await expect(failing).rejects.toBe(failure);
    expect(runs).toBe(1);
  });
});
