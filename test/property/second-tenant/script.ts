// What a tenant does from its first day on: every Command kind, refusals and repeats, logins, the operator's work, and at
// the end a read of every route that there is.
import { EVENT_ERASE } from '../../../src/protocol/retention.ts';
import { canonicalHash } from '../../../src/wire/canonical.ts';
import { signApproval } from '../../../src/worker/documents.ts';
import { generateActorKey, type ActorKey } from '../../../src/worker/keys.ts';
import { ARCHIVE } from '../../support/archival.ts';
import { id, Mission } from '../../support/mission.ts';
import { agentCard } from '../../transport/cards.ts';
import type { RecordedTenant } from './recorded-tenant.ts';

const USAGE = 'ext.missionweaveprotocol.core.resource_usage_record';
const RENEW = 'ext.missionweaveprotocol.core.work_execution_lease_renew';

export interface Cast {
  /** May read the audit. */
  eve: ActorKey;
  olga: ActorKey;
  ada: ActorKey;
  bob: ActorKey;
}

/** Which the other tenant puts and publishes as well. */
const CONTENT = 'the code';

export async function playEverything(recorded: RecordedTenant): Promise<void> {
  const { cast, mission, messageId } = await playLife(recorded);
  await archive(recorded, mission, cast);
  await erase(recorded, mission, { ...cast, messageId });
  await recorded.org('GET', '/audit?limit=200', { token: await recorded.tokenOf(cast.eve) });
  for (const below of ['/principals', '/policy']) await recorded.operator('GET', below);
}

/** Everything before the archive, whose Command brings a snapshot. */
export async function playLife(recorded: RecordedTenant): Promise<{ cast: Cast; mission: Mission; messageId: string }> {
  const cast = await operate(recorded);
  const mission = await Mission.create(recorded.tenant, cast.olga, cast.ada, {
    permissions: ['run'],
    // Shorter than what it is renewed for: the clock may stand still between the two.
    coordinatorLeaseSeconds: 43_200,
  });
  const ids = await playMission(recorded, mission, cast);
  await beRefused(recorded, mission, cast);
  await readEverything(recorded, cast, { ...ids, missionId: mission.missionId, groupId: mission.groupId });
  await playOtherEnds(recorded, cast);
  return { cast, mission, messageId: ids.messageId };
}

/** The operator's API, Cards and sessions, good logins and bad ones. */
async function operate(recorded: RecordedTenant): Promise<Cast> {
  const { tenant } = recorded;
  const human = generateActorKey({ type: 'human', id: 'urn:test:same:human:eve' });
  const keys = [{ keyId: human.keyId, publicKey: human.publicKey }];
  await recorded.operator('POST', '/principals', { principal: human.principal, displayName: 'Eve', keys });
  await recorded.operator('POST', '/principals', { principal: human.principal, displayName: 'Eve again', keys: [] });
  const agent = generateActorKey({ type: 'agent', id: 'urn:test:same:agent:cleo' });
  await recorded.operator('POST', '/agents', { card: agentCard(agent) });
  await recorded.logIn(human);
  await recorded.logIn(agent, { openSession: true });
  await recorded.logIn({ ...human, signer: agent.signer });
  const later = { validUntil: '2099-01-01T00:00:00.000Z' };
  await recorded.operator('POST', `/keys/${encodeURIComponent(human.keyId)}/end`, later);
  await recorded.operator('POST', `/keys/${encodeURIComponent(id())}/end`, later);
  const policy = JSON.parse((await recorded.operator('GET', '/policy')).text) as object;
  const changed = { ...policy, auditors: [human.principal] };
  await recorded.operator('PUT', '/policy', changed);
  await recorded.operator('PUT', '/policy', changed);
  return {
    eve: human,
    olga: await tenant.human('olga'),
    ada: await tenant.agent('ada'),
    bob: await tenant.agent('bob'),
  };
}

async function playMission(recorded: RecordedTenant, mission: Mission, { olga, ada, bob }: Cast) {
  const { tenant } = mission;
  await mission.join(bob);
  await mission.accept(ada, 'mission.renew_coordinator', { leaseSeconds: 86_400 });
  const workItemId = await approvedItem(recorded, mission, olga, bob);
  const item = await mission.start(bob, workItemId);
  await mission.accept(bob, USAGE, { ...item, usageDelta: { modelTokens: 7 } });
  await mission.accept(bob, RENEW, { ...item, leaseSeconds: 900 });
  const checkpoint = { phase: 'half way', completedMilestones: ['one'], nextStep: 'two', createdAt: tenant.now() };
  await mission.accept(bob, 'work.checkpoint', { ...item, checkpoint });
  const resumed = await mission.start(bob, workItemId);
  await mission.accept(bob, 'work.block', { ...resumed, reason: 'Which database?', checkpoint });
  await mission.accept(ada, 'work.unblock', { workItemId });
  const content = await mission.finish(bob, await mission.start(bob, workItemId), CONTENT);
  const put = { body: new Uint8Array(Buffer.from(CONTENT)), contentType: 'application/octet-stream' };
  for (const key of [bob, bob, olga]) {
    await recorded.org('PUT', `/content/${content}`, { ...put, token: await recorded.tokenOf(key) });
  }

  await mission.accept(ada, 'work.cancel', { workItemId: await mission.authorize(), reason: 'No longer needed' });
  await mission.accept(bob, 'work.propose', { proposalId: id(), contract: mission.contract() });
  const token = await recorded.tokenOf(olga);
  const group = await recorded.org('GET', `/groups/${encodeURIComponent(mission.groupId)}`, { token });
  const conversationId = (JSON.parse(group.text) as { group: { mainConversationId: string } }).group.mainConversationId;
  for (const actor of [olga, ada, bob])
    await mission.say(actor, 'Plan: first the code, then the tests.', conversationId);
  const { events, receipt } = await mission.say(olga, 'And then the manual.', conversationId);
  const { messageId } = events[0]?.payload['message'] as { messageId: string };
  const replacementContent = 'And then the handbook.';
  const reason = 'It is longer';
  await mission.accept(olga, 'message.correct', { amendmentId: id(), messageId, reason, replacementContent });
  await mission.accept(olga, 'message.retract', { amendmentId: id(), messageId, reason: 'No time' });
  await mission.accept(olga, 'message.redact', { amendmentId: id(), messageId, reason: 'It names a customer' });

  const first = await mission.submitForApproval([content]);
  const change = mission.approval(first, [content], 'changes_requested', 'More tests');
  await mission.accept(olga, 'mission.request_changes', {
    missionRevision: first,
    feedback: 'More tests',
    approval: change,
  });
  const second = await mission.submitForApproval([content]);
  await mission.accept(olga, 'mission.approve', { approval: mission.approval(second, [content]) });
  const taking = `/groups/${encodeURIComponent(mission.groupId)}/snapshots`;
  const taken = await recorded.org('POST', taking, { token: await recorded.tokenOf(ada) });
  const { snapshotId } = (JSON.parse(taken.text) as { snapshot: { snapshotId: string } }).snapshot;
  const eventId = events[0]?.eventId ?? '';
  return {
    workItemId,
    conversationId,
    messageId,
    eventId,
    actionId: receipt.actionId,
    agentId: bob.principal.id,
    snapshotId,
    contentHash: content,
  };
}

/** Queued until its owner approves of one execution. */
async function approvedItem(
  { tenant }: RecordedTenant,
  mission: Mission,
  olga: ActorKey,
  bob: ActorKey,
): Promise<string> {
  const workItemId = await mission.queued(bob, { executionApproval: 'human_required' });
  const read = await tenant.store.read(tenant.organization.organizationId, (reader) =>
    reader.page({ kind: 'mission', groupId: mission.groupId, limit: 1 }),
  );
  const { mission: standing } = read[0]?.document as { mission: { revision: number } };
  const scope = { operations: ['run'], ownershipEpoch: 1, expiresAt: mission.later(600_000) };
  const approval = signApproval(olga, {
    kind: 'work_execution',
    decision: 'approved',
    missionId: mission.missionId,
    groupId: mission.groupId,
    workItemId,
    missionRevision: standing.revision,
    artifactHashes: [],
    comments: '',
    conditions: [
      'operation:run',
      'ownershipEpoch:1',
      `expiresAt:${scope.expiresAt}`,
      `budgetHash:${canonicalHash({})}`,
    ],
    occurredAt: tenant.now(),
  });
  await mission.accept(olga, 'approval.grant_execution', { workItemId, ...scope, approval });
  return workItemId;
}

/** Each kind of "no", and the same Command twice. */
async function beRefused(recorded: RecordedTenant, mission: Mission, { olga, ada, bob }: Cast): Promise<void> {
  const { tenant } = recorded;
  const draft = Mission.draft(tenant, olga, ada).creation();
  const bytes = tenant.sign(olga, draft);
  for (let time = 0; time < 2; time += 1) await tenant.submitBytes(bytes, olga.principal);
  const collision = {
    ...draft,
    actionId: (JSON.parse(Buffer.from(bytes).toString()) as { actionId: string }).actionId,
  };
  await tenant.submit(olga, { ...collision, payload: { ...draft.payload, title: 'Another' } });
  await tenant.submit({ ...olga, signer: bob.signer }, Mission.draft(tenant, olga, ada).creation());
  await tenant.submitBytes(tenant.sign(olga, Mission.draft(tenant, olga, ada).creation()), ada.principal);
  await tenant.submitBytes(Buffer.from('{"a":1,"a":2}'), olga.principal);
  await tenant.submitBytes(Buffer.from('{"protocolVersion":"0.1"}'), olga.principal);
  await mission.outcome(bob, 'work.start', { workItemId: id(), ownershipEpoch: 1 });
  await tenant.outcome(bob, { kind: 'work.propose', groupId: id(), payload: {} }, mission.epochsOf(bob));
  await tenant.openSession(bob);
  await mission.outcome(bob, 'work.propose', { proposalId: id(), contract: mission.contract() });
  await recorded.org('GET', '/me', { token: 'not-a-token' });
  await recorded.org('GET', '/me');
}

/** A cancelled Mission, an ended Membership, failed work, a new Card. */
async function playOtherEnds({ tenant }: RecordedTenant, { olga, ada, bob }: Cast): Promise<void> {
  const mission = await Mission.create(tenant, olga, ada);
  mission.inSession(bob, 2);
  await mission.join(bob);
  const failing = await mission.active(bob);
  const evidence = [mission.evidence(bob, failing.workItemId, [], 'failure_report')];
  await mission.accept(bob, 'work.fail', { ...failing, reason: 'It cannot be done', evidence });
  await mission.active(bob);
  await mission.accept(olga, 'membership.end', { principal: bob.principal, reason: 'Done' });
  await mission.accept(olga, 'mission.cancel', { reason: 'The market moved' });
  await tenant.registerCard(bob, 2);
}

/** Members go on reading, nobody writes, and what was refused before waits to be sealed. */
async function archive(recorded: RecordedTenant, mission: Mission, { olga, ada }: Cast): Promise<void> {
  const { tenant } = recorded;
  const archivist = await tenant.service('archivist', [ARCHIVE]);
  const group = `/groups/${encodeURIComponent(mission.groupId)}`;
  const taken = await recorded.org('POST', `${group}/snapshots`, { token: await recorded.tokenOf(ada) });
  const { snapshot } = JSON.parse(taken.text) as { snapshot: object };
  await tenant.outcome(archivist, mission.draft(ARCHIVE, { snapshot: { ...snapshot, throughSequence: 1 } }));
  await tenant.accept(archivist, mission.draft(ARCHIVE, { snapshot }));
  await mission.outcome(olga, 'mission.cancel', { reason: 'Too late' });
  for (const below of ['', '/events?limit=200', '/policy-log', '/memberships'])
    await recorded.org('GET', `${group}${below}`, { token: await recorded.tokenOf(olga) });
}

async function readEverything(recorded: RecordedTenant, cast: Cast, ids: Record<string, string>): Promise<void> {
  const routes = recorded.app.routes.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/orgs/'));
  for (const path of new Set(routes.map((route) => route.path))) {
    const below = path.slice('/v1/orgs/:slug'.length).replace(/:(\w+)/g, (_, name: string) => {
      const value = ids[name];
      if (value === undefined) throw new Error(`what is ${name} in ${path}? Tell the script.`);
      return encodeURIComponent(value);
    });
    for (const reader of [cast.olga, cast.bob]) {
      const token = await recorded.tokenOf(reader);
      await recorded.org('GET', below, { token });
      await recorded.org('GET', `${below}?limit=2`, { token });
    }
  }
}

/** In an archived Group, and once. */
async function erase(recorded: RecordedTenant, mission: Mission, { olga, messageId }: Cast & { messageId: string }) {
  const { tenant } = recorded;
  const eraser = await tenant.service('eraser', [EVENT_ERASE]);
  const draft = () => mission.draft(EVENT_ERASE, { messageId, reasonCode: 'personal_data' });
  await tenant.accept(eraser, draft());
  await tenant.outcome(eraser, draft());
  const events = `/groups/${encodeURIComponent(mission.groupId)}/events?limit=200`;
  await recorded.org('GET', events, { token: await recorded.tokenOf(olga) });
}
