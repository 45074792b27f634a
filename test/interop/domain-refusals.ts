// Genuine Commands that the rules refuse: each has its code, and its error document (with revisions, waits and details)
// joins those that are checked against the official schema.
import type { Actor } from './actor.ts';
import { basisDraft, contractDraft, CURRENCY, newId } from './drafts.ts';
import type { Group } from './group.ts';
import type { JsonObject } from './sdk.ts';
import { BASE, OPERATOR, SLUG } from './stage.ts';
import { codeOf, type Answer } from './traffic.ts';

type Case = readonly [code: string, actor: Actor, kind: string, payload: JsonObject, members?: JsonObject];

/** In the Group that `checkRefusals` left behind: a Mission, its owner and its Coordinator. */
export async function checkDomainRefusals(group: Group, cancelled: Group): Promise<void> {
  const { checks, traffic } = group.stage;
  const { cora, ada, ben } = group.cast;
  const workers = [ada, ben];
  for (const { principal } of workers) {
    const payload = { principal, roles: ['worker'], visibilityAfterSequence: 0 };
    await group.does(cora, 'membership.change', payload);
  }
  const workItemId = newId();
  const risky = { ...contractDraft('Publish'), sideEffectRisk: 'destructive', executionApproval: 'human_required' };
  await group.does(cora, 'work.authorize', { workItemId, contract: risky });
  const candidateAgentIds = workers.map(({ principal }) => principal.id);
  await group.does(cora, 'work.offer', { workItemId, candidateAgentIds, selectionBasis: basisDraft() });
  await group.does(ada, 'work.accept_offer', { workItemId });
  for (const refused of cases(group, workItemId)) await expectRefusal(group, refused);
  const ended = await traffic.send({
    path: `${BASE}/groups/${encodeURIComponent(cancelled.groupId)}`,
    token: ada.token,
  });
  checks.equal('reading after the own Membership ended: MEMBERSHIP_REQUIRED', codeOf(ended), 'MEMBERSHIP_REQUIRED');
  await checkRateLimit(group);
}

function cases(group: Group, workItemId: string): Case[] {
  const { olga, otto, cora, ada, ben } = group.cast;
  const { conversationId } = group;
  const message = () => ({ messageId: newId(), conversationId, content: [{ type: 'text', text: 'Hello' }] });
  const known = group.accepted.find(({ actor }) => actor === cora)?.document['actionId'];
  const { deadline: _deadline, ...incomplete } = contractDraft('Without an end');
  const dear = { ...contractDraft('Too dear'), budget: { currency: CURRENCY, financialLimit: 1_000 } };
  const start = { workItemId, ownershipEpoch: 1 };
  const lease = { workItemId, ownershipEpoch: 1, executionLeaseId: newId() };
  const observer = { principal: otto.principal, roles: ['observer'], visibilityAfterSequence: 0 };
  const critical = { 'https://interop.example/profiles/unknown': { version: '1.0.0', critical: true, data: null } };
  return [
    ['REVISION_CONFLICT', cora, 'message.post', message(), { conversationId, expectedRevision: 99 }],
    ['ACTION_ID_COLLISION', cora, 'message.post', message(), { actionId: known }],
    ['AUTH_FORBIDDEN', ada, 'membership.change', observer, { coordinatorEpoch: 1 }],
    ['GROUP_NOT_FOUND', otto, 'message.post', message(), { membershipEpoch: 1 }],
    ['MEMBERSHIP_STALE', ada, 'message.post', message(), { membershipEpoch: 9 }],
    ['AUTH_STALE_SESSION', ada, 'message.post', message(), { sessionEpoch: 1_000 }],
    ['AUTH_STALE_COORDINATOR', cora, 'mission.renew_coordinator', {}, { coordinatorEpoch: 7 }],
    ['UNKNOWN_CRITICAL_EXTENSION', ada, 'message.post', message(), { extensions: critical }],
    ['WORK_CONTRACT_INCOMPLETE', ada, 'work.propose', { proposalId: newId(), contract: incomplete }],
    ['BUDGET_EXCEEDED', cora, 'work.authorize', { workItemId: newId(), contract: dear }],
    ['WORK_ALREADY_OWNED', ben, 'work.accept_offer', { workItemId }],
    ['APPROVAL_REQUIRED', ada, 'work.start', start],
    ['WORK_STALE_OWNERSHIP', ada, 'work.start', { ...start, ownershipEpoch: 99 }],
    ['INVALID_STATE_TRANSITION', ada, 'work.block', { ...lease, reason: 'Why?', checkpoint: checkpoint() }],
    ['INVALID_STATE_TRANSITION', olga, 'mission.approve', { approval: approval(group, olga) }],
  ];
}

async function expectRefusal(group: Group, [code, actor, kind, payload, members]: Case): Promise<Answer> {
  const { sdk, checks } = group.stage;
  const command = group.build(actor, kind, payload, members);
  const answer = await group.send(actor, Buffer.from(sdk.canonicalizeJson(command), 'utf8'));
  const { relatedActionId } = answer.body;
  checks.equal(
    `${kind} by ${actor.name}: ${code}`,
    { code: codeOf(answer), relatedActionId },
    { code, relatedActionId: command['actionId'] },
  );
  return answer;
}

/** Under a policy that allows one Message a minute; the operator sets it, and puts the old one back. */
async function checkRateLimit(group: Group): Promise<void> {
  const { checks, traffic, operatorToken: token } = group.stage;
  const { ben } = group.cast;
  const path = `${OPERATOR}/organizations/${SLUG}/policy`;
  const policy = await traffic.must({ path, token });
  const limits = { ...(policy['limits'] as JsonObject), messagesPerMinute: 1 };
  const strict = await traffic.must({ method: 'PUT', path, token, body: { ...policy, limits } });
  const { conversationId } = group;
  const message = () => ({ messageId: newId(), conversationId, content: [{ type: 'text', text: 'Hello' }] });
  await group.does(ben, 'message.post', message());
  const { body } = await expectRefusal(group, ['RATE_LIMITED', ben, 'message.post', message()]);
  checks.equal('it says when to come back', [typeof body['retryAfterMs'], body['retryable']], ['number', true]);
  await traffic.must({ method: 'PUT', path, token, body: { ...policy, version: strict['version'] } });
}

function checkpoint(): JsonObject {
  return { phase: 'none', createdAt: new Date().toISOString() };
}

function approval({ missionId, groupId }: Group, approver: Actor): JsonObject {
  return approver.sign('approval', {
    approvalId: newId(),
    kind: 'mission_final',
    decision: 'approved',
    missionId,
    groupId,
    missionRevision: 1,
    artifactHashes: [`sha256:${'0'.repeat(64)}`],
    acceptancePolicyVersion: '1.0.0',
    approver: approver.principal,
    comments: '',
    conditions: [],
    occurredAt: new Date().toISOString(),
  });
}
