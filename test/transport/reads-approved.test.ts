// Reading a Mission that was sent back once and then approved.
import { afterEach, describe, expect, it } from 'vitest';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, path } from './api.ts';

describe.each(STORES)('$name: reading an approved Mission', ({ open }) => {
  let opened: OpenedStore;
  afterEach(() => opened.close());

  it('MWP-MSN-008: /approvals, /policy-log and the Mission show the signed decision and earlier submissions', async () => {
    opened = await open();
    const tenant = await Tenant.create(opened.store);
    const api = new Api(tenant);
    const olga = await tenant.human('olga');
    const ada = await tenant.agent('ada');
    const bob = await tenant.agent('bob');
    const mission = await Mission.create(tenant, olga, ada);
    await mission.join(bob);
    const hash = await mission.finish(bob, await mission.active(bob));
    const first = await mission.submitForApproval([hash]);
    const feedback = 'More tests, please';
    const change = mission.approval(first, [hash], 'changes_requested', feedback);
    await mission.accept(olga, 'mission.request_changes', { missionRevision: first, feedback, approval: change });
    const second = await mission.submitForApproval([hash]);
    await mission.accept(olga, 'mission.approve', { approval: mission.approval(second, [hash]) });

    const group = `/groups/${path(mission.groupId)}`;
    const approvals = await api.all(ada, `${group}/approvals`);
    expect(approvals.map(({ approval }) => checkDocument('approval', approval).valid)).toEqual([true, true]);
    expect(approvals.map(({ approval }) => approval.decision).sort()).toEqual(['approved', 'changes_requested']);
    expect(approvals.map(({ approval }) => approval.comments)).toContain('More tests, please');
    const { json } = await api.get(olga, `/missions/${path(mission.missionId)}`);
    expect(checkDocument('mission', json.mission)).toMatchObject({ valid: true });
    expect(json.mission.state).toBe('approved');
    expect(json.details['submissions']).toHaveLength(2);
    const log = await api.all(olga, `${group}/policy-log`);
    expect(log.length).toBeGreaterThan(0);
    expect(log.map((entry) => entry['position'])).toEqual(log.map((_, position) => position + 1));
    expect(await api.all(olga, `${group}/policy-log`, 1)).toEqual(log);
  });
});
