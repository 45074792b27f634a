// The result goes to production. In A that touches the outside, so it waits for a human's Execution Approval.

import { createHash } from 'node:crypto';
import { addSeconds, timestampFromMillis } from '../../../protocol/timestamps.ts';
import { executionApproval } from '../../../worker/execution-approval.ts';
import { CURRENCY, DEPLOY } from '../contract.ts';
import type { Attempt, Play } from '../play.ts';
import type { Task } from '../task.ts';
import type { Tasks } from './planning.ts';

/** Shorter than the ownership lease, which bounds every Approval. */
const APPROVED_SECONDS = 300;

export async function integrate(play: Play, tasks: Tasks): Promise<void> {
  const { cora, ada, cleo } = play.cast;
  const task = tasks.integration;
  const integrator = play.lane === 'A' ? ada : cleo;
  await play.tell('Integration', '', 'heading');
  const results = [tasks.implementation, tasks.tests].flatMap(({ artifacts }) => artifacts);
  const early = { artifactHashes: results.map(({ contentHash }) => contentHash) };
  const attempt: Attempt = { tries: 'to submit the mission with work left', meets: 'INVALID_STATE_TRANSITION' };
  await play.mayNot(cora, attempt, 'mission.submit_for_approval', early);

  await task.offer(cora, [integrator]);
  await task.accept(integrator);
  await integrator.atDesk(async () => {
    if (task.item.risk === 'external') await askAHuman(play, task);
    await task.start();
    const external = task.item.risk === 'external' ? { externalActions: 1 } : {};
    await task.use({ toolCalls: 6, financialMicrounits: 900_000, ...external });
    const shipped = createHash('sha256').update(play.plot.implementation).digest('hex');
    const release = { ships: `sha256:${shipped}`, behindSwitch: true };
    await task.publish(JSON.stringify(release), [tasks.review, tasks.implementation]);
    const same = tasks.implementation.artifacts.some(({ contentHash }) => contentHash === release.ships);
    play.checks.mustEqual(`${play.lane}: what ships has the hash that was reviewed`, same, true);
    await submitTooLittle(play, task);
    const method = 'The shipped bytes hash to the reviewed Artifact';
    await task.submit([task.evidence(integrator, 'artifact_integrity', method)]);
  });
  await task.acceptResult(cora, 'Hashes compared');
}

async function submitTooLittle(play: Play, task: Task): Promise<void> {
  const evidence = [task.evidence(task.owner, 'policy_check', 'Looks fine')];
  const artifactIds = task.artifacts.map(({ artifactId }) => artifactId);
  const payload = { ...task.underLease, artifactIds, evidence };
  const attempt: Attempt = { tries: 'to submit other Evidence than the contract asks for', meets: 'INVALID_COMMAND' };
  await play.mayNot(task.owner, attempt, 'work.submit', payload, task.line);
}

async function askAHuman(play: Play, task: Task): Promise<void> {
  const { olga } = play.cast;
  const attempt: Attempt = { tries: 'to touch production without a human’s approval', meets: 'APPROVAL_REQUIRED' };
  await play.mayNot(task.owner, attempt, 'work.start', task.starting, task.line);
  const { missionId, groupId } = play;
  const { revision } = (await play.missionAs(olga)).mission;
  const payload = executionApproval(
    olga.key,
    { missionId, groupId, missionRevision: revision },
    {
      workItemId: task.workItemId,
      ownershipEpoch: task.ownershipEpoch,
      operations: [DEPLOY.operation],
      resources: [DEPLOY.resource],
      budget: { currency: CURRENCY, financialLimit: 2, externalSideEffectLimit: 1 },
      expiresAt: addSeconds(timestampFromMillis(Date.now()), APPROVED_SECONDS),
    },
  );
  await play.does(olga, 'approves this one execution', 'approval.grant_execution', payload, task.line);
}
