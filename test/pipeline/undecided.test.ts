// What cannot be decided is said to be undecided, and the identical bytes are decided later (design section 4).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

describe.each(STORES)('undecided on $name', ({ name, open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
  });
  afterEach(() => opened.close());

  const openAgain = () =>
    name === 'sqlite'
      ? openSqliteStore({ file: opened.address })
      : openPostgresStore({ url: opened.address, maxConnections: 2 });

  it('a Command whose key cannot be looked up, because the database is gone, is no bad signature but put off', async () => {
    const owner = await tenant.human('olga');
    const bytes = tenant.sign(owner, Mission.draft(tenant, owner, await tenant.agent('cora')).creation());
    const gone = await openAgain();
    await gone.close();
    const undecided = await tenant.submitBytes(bytes, owner.principal, tenant.anotherAuthority(gone));
    expect(undecided).toMatchObject({
      accepted: false,
      refusal: { code: 'INTERNAL_ERROR', retryAfterMs: expect.any(Number) as number },
    });
    const decided = await tenant.submitBytes(bytes, owner.principal);
    expect(decided).toMatchObject({ accepted: true, duplicate: false });
  });
});
