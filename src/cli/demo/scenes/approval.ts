// The coordinator names one revision and its Artifacts; only the owner's signed Approval of exactly these ends the
// mission. In B the owner first finds a defect and asks for a change.

import { signApproval } from '../../../worker/documents.ts';
import { eventIn, type Attempt, type Play } from '../play.ts';
import { CHANGE_REQUEST } from '../plot.ts';
import { runCases } from '../run-cases.ts';
import { short, type Task } from '../task.ts';
import { messageOf } from './talk.ts';

export interface Submission {
  readonly missionRevision: number;
  readonly artifactHashes: readonly string[];
}

export async function submitMission(play: Play, results: readonly Task[]): Promise<Submission> {
  const { cora } = play.cast;
  await play.tell('Approval', '', 'heading');
  const artifactHashes = results.flatMap(({ artifacts }) => artifacts.map(({ contentHash }) => contentHash));
  const say = `submits the mission with ${artifactHashes.length} Artifacts`;
  const answer = await play.does(cora, say, 'mission.submit_for_approval', { artifactHashes });
  const submission = eventIn(answer, 'mission.submitted_for_approval').payload as unknown as Submission;
  const named = [...submission.artifactHashes].sort();
  play.checks.equal(`${play.lane}: the submission names these Artifacts`, named, [...artifactHashes].sort());
  return submission;
}

/** What an owner may not sign away, and what nobody else may sign. */
export async function approveWrongly(play: Play, submission: Submission): Promise<void> {
  const { olga, otto } = play.cast;
  const fewer = { ...submission, artifactHashes: submission.artifactHashes.slice(1) };
  const kind = 'mission.approve';
  const set: Attempt = { tries: 'to approve another set of Artifacts', meets: 'REVISION_CONFLICT' };
  await play.mayNot(olga, set, kind, approving(play, olga, fewer));
  const owner: Attempt = { tries: 'to approve a mission that he does not own', meets: 'AUTH_FORBIDDEN' };
  await play.mayNot(otto, owner, kind, approving(play, otto, submission));
}

export async function askForChange(play: Play, submission: Submission): Promise<void> {
  const { olga } = play.cast;
  const { feedback, missingCase } = CHANGE_REQUEST;
  const { failed } = await runCases(play.plot.implementation, [missingCase]);
  play.checks.mustEqual('B: the case that the owner found fails on the delivered code', failed, [missingCase.name]);
  const { missionRevision } = submission;
  const approval = signApproval(olga.key, {
    ...naming(play, submission),
    decision: 'changes_requested',
    comments: feedback,
  });
  const payload = { missionRevision, feedback, approval };
  await play.does(olga, `asks for a change: “${feedback}”`, 'mission.request_changes', payload);
}

export async function approve(play: Play, submission: Submission, before?: Submission): Promise<void> {
  const { olga, cora } = play.cast;
  if (before !== undefined) {
    const attempt: Attempt = { tries: 'to approve the revision from before the change', meets: 'REVISION_CONFLICT' };
    await play.mayNot(olga, attempt, 'mission.approve', approving(play, olga, before));
  }
  const { missionRevision, artifactHashes } = submission;
  const answer = await play.does(
    olga,
    `approves revision ${missionRevision} with exactly ${artifactHashes.map(short).join(' ')}`,
    'mission.approve',
    approving(play, olga, submission),
  );
  eventIn(answer, 'mission.approved');
  await checkApproved(play, submission);
  const late = messageOf(play, 'One more thing');
  const attempt: Attempt = { tries: 'to speak after the end', meets: 'INVALID_STATE_TRANSITION' };
  await play.mayNot(cora, attempt, 'message.post', late);
}

async function checkApproved(play: Play, submission: Submission): Promise<void> {
  const { mission, details } = await play.missionAs(play.cast.olga);
  const { state } = mission;
  const { approvedArtifactHashes } = details;
  const found = { state, approved: [...(approvedArtifactHashes ?? [])].sort() };
  const expected = { state: 'approved', approved: [...submission.artifactHashes].sort() };
  play.checks.equal(`${play.lane}: the mission is approved with exactly these Artifacts`, found, expected);
  await play.tell(`Mission ${play.lane} is approved`, '', 'good');
}

function approving(play: Play, approver: Play['cast']['olga'], submission: Submission) {
  return { approval: signApproval(approver.key, { ...naming(play, submission), decision: 'approved' }) };
}

function naming({ missionId, groupId }: Play, { missionRevision, artifactHashes }: Submission) {
  return { kind: 'mission_final' as const, missionId, groupId, missionRevision, artifactHashes: [...artifactHashes] };
}
