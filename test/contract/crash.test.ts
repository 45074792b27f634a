// GDE-1: wherever the process, or the way to the database, breaks off, all of an acceptance is there or nothing; and what
// was answered is there.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { STORES } from '../support/databases.ts';
import { openWire } from './proxy.ts';
import { AGENT, append, newGroupId, newTenant, planFor, uuid } from './samples.ts';

const [sqlite, postgres] = STORES as [(typeof STORES)[number], (typeof STORES)[number]];

/** Every kind of row of every accepted transition, and no row of any other. */
async function expectWhole(store: AuthorityStore, org: OrganizationId, groupId: GroupId): Promise<number> {
  return store.read(org, async (reader) => {
    const head = await reader.stream(groupId);
    const events = await reader.events(groupId, 0, 10_000);
    const transitions = new Set(events.map(({ commandHash }) => commandHash));
    expect(events).toHaveLength(head?.position ?? 0);
    expect(transitions.size).toBe(head?.revision ?? 0);
    for (const hash of transitions) {
      const command = await reader.command(hash);
      const receipt = command && (await reader.receipt(command));
      expect(receipt?.eventIds).toEqual(events.filter(({ commandHash }) => commandHash === hash).map((e) => e.eventId));
      expect(await reader.admission(hash)).toBeDefined();
    }
    expect(await reader.aggregateHashes(groupId)).toHaveLength(transitions.size);
    expect(await reader.policyLog(groupId, 0, 10_000)).toHaveLength(transitions.size);
    return transitions.size;
  });
}

describe('breaking off', () => {
  it('GDE-1: on SQLite a process killed while it writes leaves whole transitions, and all that it told of', async () => {
    const opened = await sqlite.open();
    const org = await newTenant(opened.store);
    const groupId = newGroupId();
    await opened.store.close();
    const child = fileURLToPath(new URL('crash-child.ts', import.meta.url));
    const told: string[] = [];
    for (const patience of [1, 7, 20]) {
      const running = spawn(process.execPath, ['--import', 'tsx', child, opened.address, org, groupId]);
      const ended = new Promise((resolve) => running.once('close', resolve));
      let lines = '';
      running.stdout.on('data', (chunk: Buffer) => {
        lines += chunk.toString();
        if (lines.split('\n').length > patience) running.kill('SIGKILL');
      });
      await ended;
      told.push(...lines.split('\n').slice(0, -1));
    }
    const store = await openSqliteStore({ file: opened.address });
    expect(await store.problems()).toEqual([]);
    expect(await expectWhole(store, org, groupId)).toBeGreaterThanOrEqual(told.length);
    expect(told.length).toBeGreaterThanOrEqual(28);
    await store.read(org, async (reader) => {
      for (const actionId of told) expect(await reader.receipt({ actor: AGENT, actionId })).toBeDefined();
    });
    await append(store, org, groupId, {
      policyEntries: 1,
      aggregates: [{ kind: 'session', id: uuid(), document: {} }],
    });
    await expectWhole(store, org, groupId);
    await store.close();
    await opened.close();
  });

  it('GDE-1: on PostgreSQL a connection cut after each piece that passes leaves all or nothing', async () => {
    const opened = await postgres.open();
    const wire = await openWire(opened.address);
    const store = await openPostgresStore({ url: wire.url });
    const org = await newTenant(store);
    const groupId = newGroupId();
    const accept = () => {
      const plan = planFor([groupId], { reads: [] });
      const aggregates = [{ kind: 'session' as const, id: uuid(), document: { agentId: 'a', sessionEpoch: 1 } }];
      return append(store, org, groupId, { plan, events: 2, policyEntries: 1, aggregates });
    };
    await accept();
    let accepted = 1;
    let cut = 0;
    for (let pieces = 1; pieces <= 12; pieces += 1) {
      wire.cutAfter(pieces);
      const outcome = await accept().then(
        () => 'accepted',
        (error: unknown) => error,
      );
      wire.cutAfter(Infinity);
      const before = accepted;
      accepted = await expectWhole(opened.store, org, groupId);
      if (outcome === 'accepted') expect(accepted).toBe(before + 1);
      else {
        expect(outcome).toMatchObject({ name: 'StoreFault', kind: 'unavailable' });
        expect(accepted - before).toBeLessThanOrEqual(1);
        cut += 1;
      }
    }
    expect(cut).toBeGreaterThan(2);
    await store.close();
    await wire.close();
    await opened.close();
  });
});
