// Some Missions of one cast, played until there is a WorkItem in every state, and for each Command kind a plan: a Command
// that would be accepted now. A scene wears out as accepted mutations change it; then another one is played.
import { randomUUID } from 'node:crypto';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import type { CommandDraft, Epochs } from '../../src/worker/commands.ts';
import { signApproval, signArtifact, signContextPackage, signEvidence } from '../../src/worker/documents.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { id, Mission } from '../support/mission.ts';
import { agentCard } from '../transport/cards.ts';
import { CONTENT_MARK } from './host.ts';
import type { FuzzTenant } from './tenant.ts';

export interface Plan {
  actor: ActorKey;
  draft: CommandDraft;
  epochs: Epochs;
  /** Who signs the documents in its payload. */
  documentsBy?: ActorKey;
}

export interface Scene {
  olga: ActorKey;
  ada: ActorKey;
  bob: ActorKey;
  /** Of the Mission that has most to read. */
  groupId: string;
  missionId: string;
  conversationId: string;
  workItemIds: string[];
  /** Fresh ids in each. In an order in which all of them are accepted one after the other. */
  plans: () => Plan[];
}

const CODING = { id: 'software.coding', version: '1.2.0' };
const SCHEMA_URI = 'https://schemas.example/code';
const CORE = 'ext.missionweaveprotocol.core';

export async function playScene(tenant: FuzzTenant): Promise<Scene> {
  const name = randomUUID();
  const olga = await tenant.human(`olga-${name}`);
  const [ada, bob] = [await tenant.agent(`ada-${name}`), await tenant.agent(`bob-${name}`)];
  // Whoever else is replaced or ended is not in the way of the others.
  const eve = await tenant.agent(`eve-${name}`);
  const [carl, dora] = [await tenant.human(`carl-${name}`), await tenant.human(`dora-${name}`)];
  const [main, settled, guarded, doomed] = [await begin(), await begin(), await begin(), await begin()];
  const [approvable, changeable] = [await waiting(), await waiting()];
  const over = await begin();
  await over.accept(olga, 'mission.cancel', { reason: 'No longer needed' });
  const lastState = await tenant.snapshotOf(olga, over.groupId);
  async function begin(): Promise<Mission> {
    const mission = await Mission.create(tenant, olga, ada, { coordinatorLeaseSeconds: 3_600 });
    await mission.join(bob);
    return mission;
  }

  async function waiting() {
    const mission = await begin();
    const result = await mission.finish(bob, await mission.active(bob), 'waiting');
    return { mission, result, revision: await mission.submitForApproval([result]) };
  }

  const open = await main.authorize();
  const offered = await main.authorize();
  await main.offer(offered, [bob]);
  const queued = await main.queued(bob);
  const [used, failing, pausing, blocking] = [await active(), await active(), await active(), await active()];
  function active() {
    return main.active(bob);
  }
  const published = await main.active(bob);
  const artifact = await main.publish(bob, published);
  const submitted = await main.active(bob);
  const result = await main.publish(bob, submitted, 'a result');
  const evidence = [main.evidence(bob, submitted.workItemId, [result.contentHash])];
  await main.accept(bob, 'work.submit', { ...submitted, artifactIds: [result.artifactId], evidence });
  const blocked = await active();
  const checkpoint = () => ({
    phase: 'half way',
    completedMilestones: ['one'],
    nextStep: 'two',
    createdAt: tenant.now(),
  });
  await main.accept(bob, 'work.block', { ...blocked, reason: 'Which database?', checkpoint: checkpoint() });
  const proposal = id();
  await main.accept(bob, 'work.propose', { proposalId: proposal, contract: main.contract() });
  const hash = await settled.finish(bob, await settled.active(bob), 'settled');
  const risky = await guarded.queued(bob, { executionApproval: 'human_required' });
  const guard = (await tenant.read(olga, `/missions/${encodeURIComponent(guarded.missionId)}`)) as Shown;
  await main.join(carl, ['observer']);
  const group = (await tenant.read(olga, `/groups/${encodeURIComponent(main.groupId)}`)) as Shown;
  const conversationId = group.group.mainConversationId;
  await main.say(ada, CONTENT_MARK, conversationId);
  const [corrected, retracted, redacted, erased] = [id(), id(), id(), id()];
  for (const messageId of [corrected, retracted, redacted, erased]) {
    await main.accept(ada, 'message.post', { messageId, conversationId, content: CONTENT_MARK });
  }

  const plan = (
    mission: Mission,
    actor: ActorKey,
    kind: CommandDraft['kind'],
    payload: Payload,
    by?: ActorKey,
  ): Plan => ({
    actor,
    draft: mission.draft(kind, payload),
    epochs: mission.epochsOf(actor),
    ...(by && { documentsBy: by }),
  });
  const ofMain = (actor: ActorKey, kind: CommandDraft['kind'], payload: Payload, by?: ActorKey) =>
    plan(main, actor, kind, payload, by);

  const work = (): Plan[] => [
    ofMain(bob, 'work.propose', { proposalId: id(), contract: main.contract(), dependencyIds: [] }),
    ofMain(ada, 'work.authorize', { workItemId: id(), contract: main.contract(), exclusive: true }),
    ofMain(ada, 'work.offer', {
      workItemId: open,
      candidateAgentIds: [bob.principal.id],
      offerExpiresInSeconds: 3_600,
      selectionBasis: {
        requiredCapabilities: [CODING],
        verifiedMatches: [CODING],
        authorizationEligible: true,
        availabilityEstimate: tenant.now(),
        expectedCost: 1,
        reliabilityEvidence: [],
        policyRulesApplied: ['default'],
      },
    }),
    ofMain(bob, 'work.accept_offer', { workItemId: offered, ownershipLeaseSeconds: 3_600, contractVersion: 1 }),
    ofMain(bob, 'work.start', { workItemId: queued, ownershipEpoch: 1, executionLeaseSeconds: 3_600 }),
    ofMain(bob, `${CORE}.work_execution_lease_renew`, { ...used, leaseSeconds: 3_600 }),
    ofMain(bob, `${CORE}.resource_usage_record`, { ...used, usageDelta: { modelTokens: 1 } }),
    ofMain(bob, 'work.checkpoint', { ...pausing, checkpoint: checkpoint(), resumeWithinSeconds: 3_600 }),
    ofMain(bob, 'work.block', { ...blocking, reason: CONTENT_MARK, checkpoint: checkpoint() }),
    ofMain(ada, 'work.unblock', { workItemId: blocked.workItemId, resolution: 'Decided' }),
    ofMain(bob, 'artifact.publish', { artifact: manifest(), ...ownership(used) }, bob),
    ofMain(
      bob,
      'work.submit',
      {
        ...published,
        artifactIds: [artifact.artifactId],
        evidence: [main.evidence(bob, published.workItemId, [artifact.contentHash])],
      },
      bob,
    ),
    ofMain(
      ada,
      'work.accept_result',
      {
        workItemId: submitted.workItemId,
        evidence: [main.evidence(ada, submitted.workItemId, [result.contentHash], 'reviewer_assessment')],
      },
      ada,
    ),
    ofMain(
      bob,
      'work.fail',
      { ...failing, reason: 'It cannot be done', failureCode: 'TIMEOUT', evidence: [failure()] },
      bob,
    ),
    executionApproval(),
    ofMain(ada, 'work.cancel', { workItemId: queued, reason: 'No longer needed' }),
  ];

  function failure() {
    const { missionId, groupId } = main;
    const { workItemId } = failing;
    const found = {
      type: 'failure_report' as const,
      criterionIds: ['works'],
      method: 'Ran it',
      result: 'failed' as const,
    };
    return signEvidence(bob, { missionId, groupId, workItemId, ...found, createdAt: tenant.now() });
  }

  function manifest() {
    return signArtifact(bob, {
      content: randomUUID(),
      producer: { agentCardVersion: 1, capabilities: [CODING] },
      missionId: main.missionId,
      groupId: main.groupId,
      workItemId: used.workItemId,
      mediaType: 'text/plain',
      schemaUri: SCHEMA_URI,
      createdAt: tenant.now(),
    });
  }

  function executionApproval(): Plan {
    const expiresAt = main.later(300_000);
    const approval = signApproval(olga, {
      kind: 'work_execution',
      decision: 'approved',
      missionId: guarded.missionId,
      groupId: guarded.groupId,
      workItemId: risky,
      missionRevision: guard.mission.revision,
      artifactHashes: [],
      conditions: ['operation:run', 'ownershipEpoch:1', `expiresAt:${expiresAt}`, `budgetHash:${canonicalHash({})}`],
    });
    const payload = { workItemId: risky, ownershipEpoch: 1, operations: ['run'], resources: [], expiresAt, approval };
    return plan(guarded, olga, 'approval.grant_execution', payload, olga);
  }

  const missions = (): Plan[] => {
    const another = Mission.draft(tenant, olga, ada);
    return [
      { actor: olga, draft: another.creation(), epochs: {} },
      ofMain(ada, 'mission.renew_coordinator', { leaseSeconds: 86_400 }),
      ofMain(olga, 'message.post', {
        messageId: id(),
        conversationId,
        content: [
          { type: 'text', text: CONTENT_MARK },
          { type: 'artifact_ref', artifactHash: artifact.contentHash },
          { type: 'data_ref', schema: 'urn:fuzz:schema', data: { a: [1, null, { b: '' }] } },
        ],
        mentions: [bob.principal],
        references: [],
      }),
      ofMain(ada, 'message.correct', {
        amendmentId: id(),
        messageId: corrected,
        reason: CONTENT_MARK,
        replacementContent: CONTENT_MARK,
      }),
      ofMain(ada, 'message.retract', { amendmentId: id(), messageId: retracted, reason: CONTENT_MARK }),
      ofMain(olga, 'message.redact', { amendmentId: id(), messageId: redacted, reason: CONTENT_MARK }),
      plan(settled, ada, 'mission.submit_for_approval', { artifactHashes: [hash] }),
      plan(approvable.mission, olga, 'mission.approve', { approval: final() }, olga),
      changes(),
    ];
  };

  function final() {
    return approvable.mission.approval(approvable.revision, [approvable.result]);
  }

  function changes(): Plan {
    const { mission, revision, result: changed } = changeable;
    const approval = mission.approval(revision, [changed], 'changes_requested', 'More');
    return plan(
      mission,
      olga,
      'mission.request_changes',
      { missionRevision: revision, feedback: 'More', approval },
      olga,
    );
  }

  const people = (): Plan[] => {
    const contextPackage = signContextPackage(ada, {
      missionId: main.missionId,
      groupId: main.groupId,
      sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: [id()] },
      summary: CONTENT_MARK,
    });
    return [
      ofMain(ada, 'membership.change', { principal: carl.principal, roles: ['reviewer'], mode: 'add' }),
      ofMain(ada, 'membership.change', { principal: dora.principal, roles: ['observer'], contextPackage }, ada),
      ofMain(ada, 'membership.end', { principal: carl.principal, reason: 'Done' }),
      { actor: tenant.service, draft: session(), epochs: {} },
      { actor: tenant.service, draft: card(), epochs: {}, documentsBy: tenant.service },
      plan(doomed, olga, 'mission.cancel', { reason: 'No longer needed' }),
      { actor: tenant.service, draft: erasure(), epochs: {} },
      { actor: tenant.service, draft: over.draft(`${CORE}.group_archive`, { snapshot: lastState }), epochs: {} },
    ];
  };

  function erasure(): CommandDraft {
    return main.draft(EVENT_ERASE, { messageId: erased, reasonCode: 'legal_request' });
  }

  function session(): CommandDraft {
    return { kind: 'ext.missionweaveprotocol.identity.session_open', payload: { agentId: eve.principal.id } };
  }

  function card(): CommandDraft {
    const unsigned = {
      ...agentCard(eve, { cardVersion: 2, maxConcurrency: 100 }),
      organizationId: tenant.organizationId,
      issuedAt: tenant.now(),
    };
    const { document } = signDocument('agent-card', unsigned as never, tenant.service.signer);
    return { kind: 'ext.missionweaveprotocol.registry.agent_card_register', payload: { card: document } };
  }

  return {
    olga,
    ada,
    bob,
    groupId: main.groupId,
    missionId: main.missionId,
    conversationId,
    workItemIds: [open, offered, queued, used.workItemId, submitted.workItemId, blocked.workItemId],
    plans: () => [...work(), ...missions(), ...people()],
  };
}

type Payload = Record<string, unknown>;

interface Shown {
  group: { mainConversationId: string };
  mission: { revision: number };
}

function ownership({ ownershipEpoch, executionLeaseId }: { ownershipEpoch: number; executionLeaseId: string }) {
  return { ownershipEpoch, executionLeaseId };
}
