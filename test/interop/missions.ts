// What is played: one Mission from its declaration to the owner's Approval, and one that is wound up. Between them they
// send nearly every Command kind, so that many documents come to stand in Events and answers.
import { contractDraft, CURRENCY, HARD_JSON, inSeconds, missionDraft, newId, now } from './drafts.ts';
import { payloadOf, type Group } from './group.ts';
import type { JsonObject } from './sdk.ts';
import { BASE, logIn } from './stage.ts';
import { Work } from './work.ts';

export async function playApprovedMission(group: Group): Promise<void> {
  const { cora, ada, ben } = group.cast;
  await declare(group);
  await gather(group);
  await talk(group);

  const first = new Work(group, contractDraft('Write the page'));
  await first.authorize(await first.propose(ada));
  const second = new Work(group, contractDraft('Translate the page', [first.workItemId]));
  await second.authorize();

  await first.offer([ada, ben]);
  await first.accept(ada);
  await first.start(ada);
  await first.renew(ada);
  await first.use(ada);
  await first.checkpoint(ada);
  await first.start(ada);
  await first.publish(ada, '# A page\n\nNaïve café — 😀\n');
  await first.submit(ada);
  await first.acceptResult();

  await second.offer([ben]);
  await second.accept(ben);
  await second.start(ben);
  await second.block(ben);
  await second.start(ben);
  await second.publish(ben, '# 一个页面\n', first.artifactHashes);
  await second.submit(ben);
  await second.acceptResult();

  await group.does(cora, 'mission.renew_coordinator', { leaseSeconds: 1_200 });
  await answerSubmission(group, [...first.artifactHashes, ...second.artifactHashes], 'changes_requested');
  await answerSubmission(group, [...first.artifactHashes, ...second.artifactHashes], 'approved');
}

export async function playCancelledMission(group: Group): Promise<void> {
  const { olga, cora, ada } = group.cast;
  await declare(group);
  await group.does(cora, 'membership.change', {
    principal: ada.principal,
    roles: ['worker'],
    visibilityAfterSequence: 0,
  });
  const scope = {
    operations: ['page.publish'],
    resources: ['https://interop.example/site'],
    budget: { currency: CURRENCY, financialLimit: 0.1, externalSideEffectLimit: 1 },
  };
  const risky = new Work(group, {
    ...contractDraft('Publish the page'),
    allowedResources: [{ resource: scope.resources[0], operations: scope.operations, constraints: HARD_JSON }],
    budget: { currency: CURRENCY, financialLimit: 5, externalSideEffectLimit: 1 },
    sideEffectRisk: 'external',
    executionApproval: 'human_required',
  });
  await risky.authorize();
  const needless = new Work(group, contractDraft('Announce the page'));
  await needless.authorize();
  const left = new Work(group, contractDraft('Thank everybody'));
  await left.authorize();
  await risky.offer([ada]);
  await risky.accept(ada);
  const mission = await group.stage.traffic.must({
    path: `${BASE}/missions/${encodeURIComponent(group.missionId)}`,
    token: olga.token,
  });
  await risky.approveExecution(olga, Number((mission['mission'] as JsonObject)['revision']), scope);
  await risky.start(ada);
  // A new session revokes the lease of the old one, by an Event of the authority's own cause.
  await logIn(group.stage, ada);
  await risky.start(ada);
  await risky.publish(ada, 'A first try\n');
  await risky.fail(ada);
  await needless.cancel();
  await left.offer([ada]);
  await group.does(olga, 'membership.end', { principal: ada.principal, reason: 'Called elsewhere' });
  await group.does(olga, 'mission.cancel', { reason: 'The page is not wanted any more' });
}

export async function declare(group: Group): Promise<void> {
  const { missionId, groupId } = group;
  const { olga, cora } = group.cast;
  const events = await group.does(olga, 'mission.create', { ...missionDraft(cora), missionId, groupId });
  const { conversationId } = payloadOf(events, 'mission.created')['conversation'] as { conversationId: string };
  group.conversationId = conversationId;
}

async function gather(group: Group): Promise<void> {
  const { olga, otto, cora, ada, ben } = group.cast;
  const asWorker = { roles: ['worker'], visibilityAfterSequence: 0 };
  await group.does(cora, 'membership.change', { principal: ada.principal, ...asWorker });
  const observer = { principal: otto.principal, roles: ['observer'], visibilityAfterSequence: 1 };
  await group.does(olga, 'membership.change', observer);
  const eventIds = group.accepted
    .flatMap(({ answer }) => answer.body['events'] as readonly JsonObject[])
    .map(({ eventId }) => String(eventId));
  const contextPackage = cora.sign('context-package', {
    contextPackageId: newId(),
    version: 1,
    missionId: group.missionId,
    groupId: group.groupId,
    sourceEventRange: { fromSequence: 1, toSequence: eventIds.length, eventIds },
    artifactHashes: [],
    summary: 'A page in two languages is wanted',
    decisions: [{ description: 'Ada writes', sourceEventIds: eventIds.slice(-1) }],
    constraints: ['Short sentences'],
    unresolvedQuestions: ['Which spelling?'],
    generatedBy: cora.principal,
    generatedAt: now(),
  });
  await group.does(cora, 'membership.change', {
    principal: ben.principal,
    ...asWorker,
    provisional: true,
    provisionalExpiresAt: inSeconds(600),
    contextPackage,
  });
}

async function talk(group: Group): Promise<void> {
  const { cora, ada } = group.cast;
  const { conversationId } = group;
  const content = [
    { type: 'text', text: 'Welcome — 欢迎 😀' },
    { type: 'data_ref', schema: 'https://interop.example/schemas/data', data: HARD_JSON },
  ];
  const contentSalt = 'chosen-by-the-sender';
  const welcome = { messageId: newId(), conversationId, content, mentions: [ada.principal], contentSalt };
  const extensions = {
    'https://interop.example/profiles/tone': { version: '1.0.0', critical: false, data: HARD_JSON },
  };
  const issuedAt = now().replace('Z', '456789Z');
  await group.does(cora, 'message.post', welcome, { conversationId, issuedAt, extensions });
  const reply = { messageId: newId(), conversationId, content: [{ type: 'text', text: 'Thank you' }] };
  await group.does(ada, 'message.post', reply, { issuedAt: now().replace(/\.\d+Z/, 'Z') });
}

async function answerSubmission(group: Group, artifactHashes: string[], decision: 'approved' | 'changes_requested') {
  const { olga, cora } = group.cast;
  const events = await group.does(cora, 'mission.submit_for_approval', { artifactHashes });
  const submission = payloadOf(events, 'mission.submitted_for_approval');
  const missionRevision = Number(submission['missionRevision']);
  const feedback = decision === 'approved' ? '' : 'The second paragraph is missing its accents';
  const approval = olga.sign('approval', {
    approvalId: newId(),
    kind: 'mission_final',
    decision,
    missionId: group.missionId,
    groupId: group.groupId,
    missionRevision,
    artifactHashes: submission['artifactHashes'],
    acceptancePolicyVersion: '1.0.0',
    approver: olga.principal,
    comments: feedback,
    conditions: [],
    occurredAt: now(),
  });
  if (decision === 'approved') await group.does(olga, 'mission.approve', { approval });
  else await group.does(olga, 'mission.request_changes', { missionRevision, feedback, approval });
}
