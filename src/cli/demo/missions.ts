// The two missions from declaration to archive, side by side. Each is a list of scenes; they meet where both need Ada.

import { Cue, type Cues } from './cue.ts';
import type { Play } from './play.ts';
import { approve, approveWrongly, askForChange, submitMission } from './scenes/approval.ts';
import { archiveGroup } from './scenes/archive.ts';
import { correct } from './scenes/correction.ts';
import { implementFirst, implementSecond } from './scenes/implementation.ts';
import { integrate } from './scenes/integration.ts';
import { joinMission } from './scenes/joining.ts';
import { declareMission } from './scenes/opening.ts';
import { planWork } from './scenes/planning.ts';
import { writeRequirements } from './scenes/requirements.ts';
import { reviewWork } from './scenes/review.ts';
import { talkItOver } from './scenes/talk.ts';
import { runTests, writeTests } from './scenes/tests.ts';
import { trespass } from './scenes/trespass.ts';

/** When one mission fails, `stop` ends the other one's waits, and the first failure is the one that is thrown. */
export async function playBoth(plays: { A: Play; B: Play }, stop: AbortController): Promise<void> {
  const cues: Cues = { secondIsReady: new Cue(), firstIsActive: new Cue(), secondWasTried: new Cue() };
  let cause: { error: unknown } | undefined;
  const ends = (mission: Promise<void>) =>
    mission.catch((error: unknown) => {
      cause ??= { error };
      stop.abort(error);
    });
  await Promise.all([ends(playFirst(plays.A, cues, stop.signal)), ends(playSecond(plays.B, cues, stop.signal))]);
  if (cause) throw cause.error;
}

async function playFirst(play: Play, cues: Cues, signal: AbortSignal): Promise<void> {
  await declareMission(play);
  await joinMission(play);
  await trespass(play);
  await talkItOver(play);
  const tasks = await planWork(play);
  await writeRequirements(play, tasks);
  await Promise.all([implementFirst(play, tasks, cues, signal), writeTests(play, tasks.tests)]);
  await runTests(play, tasks.tests, tasks);
  await reviewWork(play, tasks);
  await integrate(play, tasks);
  const submission = await submitMission(play, Object.values(tasks));
  await approveWrongly(play, submission);
  await approve(play, submission);
  await archiveGroup(play);
}

async function playSecond(play: Play, cues: Cues, signal: AbortSignal): Promise<void> {
  await declareMission(play);
  await joinMission(play);
  await talkItOver(play);
  const tasks = await planWork(play);
  await writeRequirements(play, tasks);
  await Promise.all([implementSecond(play, tasks, cues, signal), writeTests(play, tasks.tests)]);
  await runTests(play, tasks.tests, tasks);
  await reviewWork(play, tasks);
  await integrate(play, tasks);
  const before = await submitMission(play, Object.values(tasks));
  await askForChange(play, before);
  const corrected = await correct(play, tasks);
  const { implementation: _replaced, ...kept } = tasks;
  const submission = await submitMission(play, [...Object.values(kept), corrected]);
  await approve(play, submission, before);
  await archiveGroup(play);
}
