// A tail that was cut off. In some tables only it is found; in all of them together the history is whole in itself, and only
// a head that was written down before shows it.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headsText, readHeads, type AnchoredHead } from '../../src/archive/heads.ts';
import { verifyOrganization } from '../../src/archive/verify-organization.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Vandal, type Row } from './vandal.ts';

describe.each(STORES)('a cut tail on $name', ({ open }) => {
  let opened: OpenedStore;
  let vandal: Vandal;
  let tenant: Tenant;
  let mission: Mission;
  beforeEach(async () => {
    opened = await open();
    tenant = await Tenant.create(opened.store);
    mission = await Mission.create(tenant, await tenant.human('olga'), await tenant.agent('coordinator'));
    await mission.authorize();
    vandal = await Vandal.over(opened);
  });
  afterEach(async () => {
    await vandal.close();
    await opened.close();
  });

  async function verifyWith(anchors: AnchoredHead[] = []) {
    const { organization } = tenant;
    const faults: string[] = [];
    const report = await opened.store.read(organization.organizationId, (reader) =>
      verifyOrganization(organization, reader, { anchors, told: ({ sentences }) => faults.push(...sentences) }),
    );
    return { heads: report.heads, faults: [...faults, ...report.sentences] };
  }

  const HISTORY = ['aggregates', 'admissions', 'commands', 'documents', 'events', 'policy_log', 'receipts', 'streams'];
  const STORED = [...HISTORY, 'texts', 'transitions'];

  const snapshot = async () => {
    const tables = new Map<string, Row[]>();
    for (const table of STORED) tables.set(table, await vandal.rows(table));
    return tables;
  };

  /** Everything as it was: what no backup tool does by accident, and a restore of an old backup does. */
  async function putBack(tables: ReadonlyMap<string, Row[]>): Promise<void> {
    for (const [table, rows] of tables) {
      await vandal.run(`DELETE FROM {${table}}`);
      for (const row of rows) await vandal.add(table, row);
    }
  }

  const lastEvent = () => `stream_id = '${mission.groupId}' AND position = 2`;

  it('of the Events alone is found', async () => {
    await vandal.run(`DELETE FROM {events} WHERE ${lastEvent()}`);
    expect((await verifyWith()).faults).toContain('streams: position is 2 in the head, and 1 by the rows');
  });

  it('of Events, transitions and head is found: a Command and its receipt are left over', async () => {
    const [first] = (await vandal.rows('events')).filter((row) => row['stream_id'] === mission.groupId);
    await vandal.run(`DELETE FROM {events} WHERE ${lastEvent()}`);
    const [begun] = (await vandal.rows('transitions')).filter((row) => row['stream_id'] === mission.groupId);
    await vandal.run(`DELETE FROM {transitions} WHERE stream_id = '${mission.groupId}' AND revision = 2`);
    await vandal.run(
      `UPDATE {streams} SET position = 1, revision = 1, chain_hash = '${String(first?.['chain_hash'])}',
       log_hash = '${String(begun?.['log_hash'])}', last_event_at = '${String(first?.['occurred_at'])}'
       WHERE stream_id = '${mission.groupId}'`,
    );
    const { faults } = await verifyWith();
    expect(faults).toContainEqual(expect.stringMatching(/^commands: \d+ rows, and transitions account for \d+$/));
    expect(faults).toContainEqual(expect.stringMatching(/^receipts: /));
  });

  it('of all tables together leaves nothing to find, and is found by the heads that were written down', async () => {
    const before = await snapshot();
    await mission.authorize();
    const { heads } = await verifyWith();
    const kept = readHeads(Buffer.from(headsText(new Map([[tenant.organization.organizationId, heads]]))));
    const anchors = kept?.get(tenant.organization.organizationId) ?? [];
    expect((await verifyWith(anchors)).faults).toEqual([]);
    await putBack(before);
    expect((await verifyWith()).faults).toEqual([]);
    expect((await verifyWith(anchors)).faults).toEqual([
      'position 3 is not what it was in the heads file',
      'revision 3 is not what it was in the heads file',
    ]);
  });

  it('another history after the cut is found by the heads, also where it is longer', async () => {
    const before = await snapshot();
    await mission.authorize();
    const { heads } = await verifyWith();
    await putBack(before);
    await mission.authorize();
    await mission.authorize();
    expect((await verifyWith()).faults).toEqual([]);
    expect((await verifyWith(heads)).faults).toHaveLength(2);
  });

  it('a Group that is gone with all its rows is found by the heads', async () => {
    const before = await snapshot();
    await Mission.create(tenant, mission.owner, mission.coordinator);
    const { heads } = await verifyWith();
    await putBack(before);
    expect((await verifyWith()).faults).toEqual([]);
    expect((await verifyWith(heads)).faults).toEqual([expect.stringMatching(/^streams: .* is gone$/)]);
  });

  it('heads of later do not trouble an Organization that went on', async () => {
    const { heads } = await verifyWith();
    await mission.authorize();
    expect((await verifyWith(heads)).faults).toEqual([]);
  });
});

describe('the heads file', () => {
  it('is read strictly: anything else than what was written is no heads file', () => {
    const head = { streamId: 'urn:g', position: 1, revision: 1, chainHash: 'sha256:a', logHash: 'sha256:b' };
    const text = headsText(new Map([['urn:o', [head]]]));
    expect(readHeads(Buffer.from(text))?.get('urn:o')).toEqual([head]);
    for (const wrong of [
      '',
      '{}',
      text.replace('"format":1', '"format":2'),
      text.replace('1,"revision"', '"1","revision"'),
      `${text}x`,
    ]) {
      expect([wrong, readHeads(Buffer.from(wrong))]).toEqual([wrong, undefined]);
    }
  });
});
