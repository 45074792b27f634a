// When the database is gone, or the way to it, or an answer: what was decided is never told wrongly, and the next call
// works again. PostgreSQL only, through a wire that can be cut.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { one } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AcceptancePlan, AuthorityStore } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { OpenedStore } from '../support/databases.ts';
import { STORES } from '../support/databases.ts';
import type { Behind } from './behind.ts';
import { lookBehind } from './behind.ts';
import type { Wire } from './proxy.ts';
import { openWire } from './proxy.ts';
import { append, newGroupId, newTenant, planFor, transitionOf } from './samples.ts';

/** As it stands on the wire: BEGIN speaks of READ COMMITTED, without the NUL. */
const COMMIT = 'COMMIT\0';

describe.each(STORES.filter(({ name }) => name === 'postgres'))('faults of $name', ({ open }) => {
  let direct: OpenedStore;
  let behind: Behind;
  let wire: Wire;
  let store: AuthorityStore;
  let org: OrganizationId;
  let groupId: GroupId;
  let plan: AcceptancePlan;
  beforeEach(async () => {
    direct = await open();
    behind = lookBehind(direct);
    wire = await openWire(direct.address);
    store = await openPostgresStore({ url: wire.url, maxConnections: 2 });
    org = await newTenant(store);
    groupId = newGroupId();
    plan = planFor([groupId]);
    await append(store, org, groupId); // all statements are prepared now
  });
  afterEach(async () => {
    await store.close();
    await wire.close();
    await behind.close();
    await direct.close();
  });

  const accept = (inside: () => Promise<unknown> = async () => undefined) =>
    store.acceptTransition(org, plan, async ({ heads, now }) => {
      await inside();
      return { write: transitionOf({ groupId, head: heads.get(groupId), plan, now }), result: 'accepted' };
    });
  const stored = () => direct.store.read(org, (reader) => reader.receipt(plan.receipt));
  const unavailable = { name: 'StoreFault', kind: 'unavailable' };

  it('GDE-12: a connection lost after COMMIT was sent is unavailable, though the Command was accepted', async () => {
    wire.cutAt(COMMIT, 'after');
    await expect(accept()).rejects.toMatchObject(unavailable);
    expect(await stored()).toMatchObject({ actionId: plan.receipt.actionId });
    const again = await store.acceptTransition(org, plan, async ({ receipt }) => ({ result: receipt }));
    expect(again).toEqual(await stored());
  });

  it('GDE-1: a connection lost before COMMIT arrived is unavailable, and nothing was accepted', async () => {
    const before = await behind.rowCounts();
    wire.cutAt(COMMIT, 'before');
    await expect(accept()).rejects.toMatchObject(unavailable);
    expect(await behind.rowCounts()).toEqual(before);
    expect(await accept()).toBe('accepted');
  });

  it('a connection lost while deciding is unavailable, and the decision is not written on another one', async () => {
    const before = await behind.rowCounts();
    await expect(accept(async () => wire.cut())).rejects.toMatchObject(unavailable);
    expect(await behind.rowCounts()).toEqual(before);
    expect(await accept()).toBe('accepted');
  });

  it('a session that the server ends while deciding is unavailable', async () => {
    const end = () =>
      behind.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'mwp-authority' AND xact_start IS NOT NULL`);
    await expect(accept(end)).rejects.toMatchObject(unavailable);
    expect(await accept()).toBe('accepted');
  });

  it('a connection lost while reading is unavailable, and no absence is made of it', async () => {
    const lost = store.read(org, async (reader) => {
      await reader.stream(groupId);
      wire.cut();
      return Promise.allSettled([reader.stream(groupId), reader.load([one('session', 'x')]), reader.streamIds()]);
    });
    await expect(lost).rejects.toMatchObject(unavailable);
    expect((await store.read(org, (reader) => reader.stream(groupId)))?.position).toBe(1);
  });

  it('a failed statement cannot be passed over: what is decided after it is not committed', async () => {
    const before = await behind.rowCounts();
    const failed = store.acceptTransition(org, plan, async ({ heads, now }, acceptance) => {
      await acceptance.load([one('session', 'no text holds a \0')]).catch(() => undefined);
      return { write: transitionOf({ groupId, head: heads.get(groupId), plan, now }), result: 'accepted' };
    });
    await expect(failed).rejects.toMatchObject({ name: 'StoreFault' });
    expect(await behind.rowCounts()).toEqual(before);
    expect(await accept()).toBe('accepted');
  });

  it('idle connections that died are replaced unnoticed', async () => {
    await Promise.all([accept(), store.organizations.policy(org)]);
    wire.cut();
    // The sockets hear of it in their own time; until they have, a call may still fail, and only as unavailable.
    for (let done = false; !done;) {
      done = await store.organizations.policy(org).then(
        () => true,
        (error: unknown) => (expect(error).toMatchObject(unavailable), false),
      );
    }
    plan = planFor([groupId]);
    expect(await accept()).toBe('accepted');
  });

  it('GDE-9, GDE-10: without a database every call is unavailable and readiness says so', async () => {
    await wire.close();
    await expect(accept()).rejects.toMatchObject(unavailable);
    await expect(store.read(org, (reader) => reader.policy())).rejects.toMatchObject(unavailable);
    expect(await store.problems()).toEqual([
      expect.stringMatching(/^the database does not answer(: SQLSTATE \w{5})?$/),
    ]);
  });

  it('GDE-14: a fault carries no statement, parameter or row', async () => {
    const secret = 'attack at dawn';
    const aggregates = [{ kind: 'session' as const, id: secret, document: { agentId: secret } }];
    await append(store, org, groupId, { aggregates });
    const failure = await append(store, org, groupId, { aggregates }).catch((error: unknown) => error);
    const seen = (value: unknown): string =>
      value instanceof Error
        ? Object.getOwnPropertyNames(value)
            .map((name) => `${name}=${seen((value as never)[name])}`)
            .join()
        : String(value);
    expect(seen(failure)).toContain('aggregates_pkey');
    expect(seen(failure)).not.toContain(secret);
    expect(seen(failure)).not.toContain('write_batch(');
  });

  it('close is safe twice, waits for who works, and turns away who comes after', async () => {
    let release: () => void = () => undefined;
    let working: Promise<string> = Promise.resolve('');
    await new Promise<void>((inside) => {
      working = accept(() => new Promise<void>((go) => ((release = go), inside())));
    });
    const closed = Promise.all([store.close(), store.close()]);
    await expect(store.organizations.policy(org)).rejects.toMatchObject(unavailable);
    release();
    expect(await working).toBe('accepted');
    await closed;
    await store.close();
  });
});
