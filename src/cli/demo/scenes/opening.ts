// A mission is declared and people join it. In A the declaration goes out five times at once, in B its Action ID is used
// a second time for something else.

import { canonicalText } from '../../../wire/canonical.ts';
import { signContextPackage } from '../../../worker/documents.ts';
import { addSeconds, timestampFromMillis } from '../../../protocol/timestamps.ts';
import type { Actor } from '../actor.ts';
import { StoryStopped } from '../checks.ts';
import { DEPLOY, inTwoHours, MISSION_BUDGET } from '../contract.ts';
import { messageOf } from './talk.ts';
import { answerOf, eventIn, type Attempt, type Play } from '../play.ts';

const COPIES = 5;

export async function declareMission(play: Play): Promise<void> {
  const { olga, cora } = play.cast;
  await play.tell('The mission begins', '', 'heading');
  const { missionId, groupId, plot } = play;
  const payload = {
    missionId,
    groupId,
    coordinatorId: cora.principal.id,
    title: plot.title,
    objective: plot.objective,
    definitionOfDone: [{ criterionId: 'done', description: plot.done, evidenceRequired: ['human_review'] }],
    budget: MISSION_BUDGET,
    deadline: inTwoHours(),
    approvalPolicy: { finalHumanApproval: true, highRiskExecutionApproval: true, policyVersion: '1.0.0' },
    permissions: [DEPLOY.operation],
    coordinatorLeaseSeconds: 900,
  };
  const command = olga.sign({ kind: 'mission.create', groupId, payload });
  const copies = play.lane === 'A' ? COPIES : 1;
  const outcomes = await Promise.all(Array.from({ length: copies }, () => olga.send(command)));
  const answers = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value] : []));
  const first = answers.find(({ duplicate }) => !duplicate);
  if (first === undefined) {
    play.checks.equal(`${play.lane}: the mission is created`, outcomes.map(answerOf), ['accepted']);
    throw new StoryStopped('the mission is created');
  }
  play.conversationId = eventIn(first, 'mission.created').conversationId ?? '';
  await play.tell(`declares the mission and names ${cora.name} its coordinator`, olga.name);

  if (copies > 1) {
    const receipts = new Set(answers.map(({ receipt }) => canonicalText(receipt)));
    const found = {
      answers: answers.length,
      receipts: receipts.size,
      duplicates: answers.filter((a) => a.duplicate).length,
    };
    const claim = `the same Command ${copies} times at once: one effect, ${copies} equal receipts`;
    const passed = play.checks.equal(`A: ${claim}`, found, { answers: copies, receipts: 1, duplicates: copies - 1 });
    const again = await olga.send(command);
    const same = again.ok && again.value.duplicate && receipts.has(canonicalText(again.value.receipt));
    play.checks.holds('A: the same Command once more answers the same receipt', same, answerOf(again));
    const group = await play.readAs(olga).group();
    play.checks.equal('A: six sends left one Event', group.ok && group.value.headSequence, 1);
    await play.tell(claim, olga.name, passed ? 'good' : 'bad');
  } else {
    const other = { ...payload, title: 'Something else under the same Action ID' };
    const attempt: Attempt = { tries: 'the same Action ID for other content', meets: 'ACTION_ID_COLLISION' };
    await play.mayNot(olga, attempt, 'mission.create', other, { actionId: command.actionId });
  }
  await catchUp(play, cora);
}

/** The workers join; in B one comes late, on a Context Package, and stays provisional until it takes work. */
export async function joinMission(play: Play): Promise<void> {
  const { olga, otto, cora, ada, ben, cleo } = play.cast;
  const asWorker = { roles: ['worker'], visibilityAfterSequence: 0 };
  const onlooker = { principal: otto.principal, roles: ['observer'], visibilityAfterSequence: 0 };
  await play.does(cora, `takes ${ada.name} in as a worker`, 'membership.change', {
    principal: ada.principal,
    ...asWorker,
  });
  if (play.lane === 'A') {
    await play.does(cora, `takes ${ben.name} in as a worker`, 'membership.change', {
      principal: ben.principal,
      ...asWorker,
    });
    await play.does(olga, `lets ${otto.name} look on`, 'membership.change', onlooker);
  } else {
    const provisional = {
      principal: cleo.principal,
      ...asWorker,
      provisional: true,
      provisionalExpiresAt: addSeconds(timestampFromMillis(Date.now()), 600),
      contextPackage: await contextFor(play, cora),
    };
    const say = `takes ${cleo.name} in provisionally, with a signed Context Package`;
    await play.does(cora, say, 'membership.change', provisional);
  }
  const joined = play.lane === 'A' ? [ada, ben, otto] : [ada, cleo];
  for (const actor of joined) await actor.lookAround();
  if (play.lane === 'B') {
    const attempt: Attempt = { tries: 'to speak while she is provisional', meets: 'MEMBERSHIP_REQUIRED' };
    await play.mayNot(cleo, attempt, 'message.post', messageOf(play, 'Hello everybody'));
  }
}

async function contextFor(play: Play, author: Actor) {
  const events = await catchUp(play, author);
  const eventIds = events.map(({ eventId }) => eventId);
  return signContextPackage(author.key, {
    missionId: play.missionId,
    groupId: play.groupId,
    sourceEventRange: { fromSequence: 1, toSequence: eventIds.length, eventIds },
    summary: `${play.plot.objective}. ${play.plot.done}.`,
    constraints: ['One active WorkItem to an agent'],
  });
}

/** Reads the Group's Events so far and learns the own epochs from them. */
async function catchUp(play: Play, actor: Actor) {
  const events = await play.readAs(actor).events();
  if (!events.ok) throw new StoryStopped(`${actor.name} reads the Events (${answerOf(events)})`);
  actor.standing.learn(events.value);
  return events.value;
}
