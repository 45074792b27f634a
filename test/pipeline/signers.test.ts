// Who may sign what. A signature that is genuine in every way is worth nothing from a Principal whom the Organization gave
// no right to make such a document, and that is told as what it is. Events are the authority's alone: verify-store.test.ts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandKindOf, executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { signApproval } from '../../src/worker/documents.ts';
import { executionApproval } from '../../src/worker/execution-approval.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { lookBehind, type Behind } from '../contract/behind.ts';
import { CASES } from '../support/draft-of-each-kind.ts';
import { Mission } from '../support/mission.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';

describe.each(STORES)('who may sign what, on $name', ({ open }) => {
  let opened: OpenedStore;
  let behind: Behind;
  let tenant: Tenant;
  let mission: Mission;
  let owner: ActorKey;
  /** A human and a reviewer of the Mission, and not its owner. */
  let otto: ActorKey;
  let worker: ActorKey;

  beforeEach(async () => {
    opened = await open();
    behind = lookBehind(opened);
    tenant = await Tenant.create(opened.store);
    [owner, otto] = [await tenant.human('olga'), await tenant.human('otto')];
    worker = await tenant.agent('worker');
    mission = await Mission.create(tenant, owner, await tenant.agent('coordinator'));
    await mission.join(worker);
    await mission.join(otto, ['reviewer']);
  });
  afterEach(async () => {
    await behind.close();
    await opened.close();
  });

  /** The code, and for a refusal the proof that it left no row but its audit. */
  async function outcomeOf(submitted: () => Promise<string>): Promise<string> {
    const rows = async () => ({ ...(await behind.rowCounts()), audit: 0 });
    const before = await rows();
    const code = await submitted();
    if (code !== 'accepted') expect(await rows()).toEqual(before);
    return code;
  }

  it('MWP-ADM-014b: the Approval of a human who is not the MissionOwner, in the name of the owner’s own Command', async () => {
    const hash = await mission.finish(worker, await mission.active(worker));
    const missionRevision = await mission.submitForApproval([hash]);
    const { missionId, groupId } = mission;
    const about = { kind: 'mission_final' as const, missionId, groupId, missionRevision, artifactHashes: [hash] };
    const approve = (approver: ActorKey) => {
      const approval = signApproval(approver, { ...about, decision: 'approved' });
      return outcomeOf(() => mission.outcome(owner, 'mission.approve', { approval }));
    };
    const requestChanges = (approver: ActorKey) => {
      const feedback = 'Add a manual';
      const approval = signApproval(approver, { ...about, decision: 'changes_requested', comments: feedback });
      const payload = { missionRevision, feedback, approval };
      return outcomeOf(() => mission.outcome(owner, 'mission.request_changes', payload));
    };
    expect([await approve(otto), await requestChanges(otto)]).toEqual(['AUTH_FORBIDDEN', 'AUTH_FORBIDDEN']);
    expect(await requestChanges(owner)).toBe('accepted');
    await mission.submitForApproval([hash]);
    const approval = mission.approval(missionRevision + 1, [hash]);
    expect(await mission.outcome(owner, 'mission.approve', { approval })).toBe('accepted');
  });

  it('MWP-ADM-014b: the Execution Approval of a human who is not the MissionOwner, and of an Agent', async () => {
    const workItemId = await mission.queued(worker, { executionApproval: 'human_required' });
    const { missionId, groupId } = mission;
    const grant = (approver: ActorKey) => {
      const draft = { missionId, groupId, missionRevision: 2, comments: '' };
      const scope = { workItemId, ownershipEpoch: 1, operations: ['deploy'], expiresAt: mission.later(60_000) };
      const payload = executionApproval(approver, draft, scope);
      return outcomeOf(() => mission.outcome(owner, 'approval.grant_execution', payload));
    };
    for (const approver of [otto, worker]) expect(await grant(approver)).toBe('AUTH_FORBIDDEN');
    expect(await grant(owner)).toBe('accepted');
  });

  it('MWP-ADM-014b: the Agent Card of a service that may not issue any, in the registrar’s own Command', async () => {
    const { registrar, identity } = tenant.organization;
    const register = (issuer: ActorKey, cardVersion: number) => {
      const { signature: _signature, ...card } = tenant.card(worker, cardVersion);
      const signed = signDocument('agent-card', card, issuer.signer).document;
      const kind = 'ext.missionweaveprotocol.registry.agent_card_register';
      return outcomeOf(() => tenant.outcome(tenant.keyOf(registrar), { kind, payload: { card: signed } }));
    };
    expect(await register(tenant.keyOf(identity), 2)).toBe('AUTH_FORBIDDEN');
    expect(await register(tenant.keyOf(registrar), 2)).toBe('accepted');
  });
});

describe('what may be signed and sent', () => {
  it('MWP-ADM-014b: no Command carries an Event or an Extension Profile, so nobody’s can be taken here', () => {
    const carried = new Set<string>();
    for (const name of executedCommandKinds()) {
      const [world, draft] = CASES[name] ?? [];
      if (!world || !draft) throw new Error(`no case of ${name}`);
      const kind = commandKindOf(name);
      const payload = kind?.payload.parse(draft(world()).payload);
      for (const { kind: documentKind } of kind?.documents?.(payload) ?? []) carried.add(documentKind);
    }
    expect([...carried].sort()).toEqual([
      'agent-card',
      'approval',
      'artifact',
      'context-package',
      'evidence',
      // Only the authority's own: test/archive/archival.test.ts.
      'group-snapshot',
    ]);
  });
});
