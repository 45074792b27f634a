// `mwp verify` on both stores: what the service wrote is fault-free, whatever was played.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyOrganization } from '../../src/archive/verify-organization.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { playOrganization } from './played-organization.ts';
import type { Tenant } from '../support/tenant.ts';

describe.each(STORES)('verify on $name', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  beforeEach(async () => {
    opened = await open();
    ({ tenant } = await playOrganization(opened.store));
  });
  afterEach(() => opened.close());

  it('finds nothing where nothing was touched', async () => {
    const { organization } = tenant;
    const sentences: string[] = [];
    const report = await opened.store.read(organization.organizationId, (reader) =>
      verifyOrganization(organization, reader, {
        told: ({ sentences: of, streamId }) => sentences.push(...of.map((s) => `${streamId}: ${s}`)),
      }),
    );
    const { heads, ...rest } = report;
    expect([...sentences, rest]).toEqual([
      { streams: heads.length, events: expect.any(Number), faults: 0, sentences: [] },
    ]);
    let t = performance.now();
    for (let i = 0; i < 20; i++) {
      await opened.store.read(organization.organizationId, (reader) => verifyOrganization(organization, reader));
    }
    console.log(report.events, heads.length, (performance.now() - t) / 20, 'ms');
  });
});
