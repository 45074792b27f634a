// Reads a Group back through the public API, as its owner, a full member, sees it.

import { canonicalText } from '../../wire/canonical.ts';
import type { AccountItem } from '../../worker/answers.ts';
import { describeProblem, type Outcome } from '../../worker/outcome.ts';
import type { GroupRecord } from './audit.ts';
import { StoryStopped, type Checks } from './checks.ts';
import { answerOf, type Play } from './play.ts';
import type { Lane } from './screen.ts';
import type { SignedByActor } from './signatures.ts';

export async function readGroup(play: Play): Promise<GroupRecord> {
  const reader = play.readAs(play.cast.olga);
  const [events, group, state, workItems, artifacts, evidence, approvals] = await Promise.all([
    reader.events().then(whole),
    reader.group().then(whole),
    reader.state().then(whole),
    reader.list('work-items').then(whole),
    reader.list('artifacts').then(whole),
    reader.list('evidence').then(whole),
    reader.list('approvals').then(whole),
  ]);
  const documents: SignedByActor[] = [
    ...artifacts.map(({ artifact }) => ({ kind: 'artifact' as const, document: artifact })),
    ...evidence.map((item) => ({ kind: 'evidence' as const, document: item.evidence })),
    ...approvals.map(({ approval }) => ({ kind: 'approval' as const, document: approval })),
  ];
  const { lane, groupId } = play;
  return { lane, groupId, events, headSequence: group.headSequence, state, workItems, documents };
}

/** What is served is what was signed, not a rendering of it. */
export async function checkBytes(play: Play, { groupId, events }: GroupRecord, checks: Checks): Promise<void> {
  const last = events.at(-1);
  if (last === undefined) throw new StoryStopped(`the Group of ${play.lane} has Events`);
  const path = `/groups/${encodeURIComponent(groupId)}/events/${encodeURIComponent(last.eventId)}`;
  const text = whole(await play.cast.olga.client.readText(path));
  checks.equal(`${play.lane}: an Event is served byte for byte in its canonical form`, text, canonicalText(last));
}

/** Cora makes none of them and may read each; for Sid, who is in no Group, there is none. */
export async function checkContents(play: Play, { documents }: GroupRecord, checks: Checks): Promise<void> {
  const manifests = documents.filter(({ kind }) => kind === 'artifact').map(({ document }) => document as Manifest);
  const hashes = [...new Set(manifests.map(({ contentHash }) => contentHash))];
  const sizes = hashes.map((hash) => manifests.find(({ contentHash }) => contentHash === hash)?.sizeBytes);
  const { cora, sid } = play.cast;
  const read: unknown[] = [];
  const refused: string[] = [];
  for (const hash of hashes) {
    const bytes = await cora.client.content(hash);
    read.push(bytes.ok ? bytes.value.byteLength : answerOf(bytes));
    refused.push(toldBy(await sid.client.content(hash)));
  }
  const count = hashes.length;
  checks.equal(
    `${play.lane}: ${cora.name} reads the bytes of all ${count} Artifacts back, each of its hash`,
    read,
    sizes,
  );
  const none = toldBy(await sid.client.content(`sha256:${'0'.repeat(64)}`));
  checks.equal(
    `${play.lane}: to ${sid.name} the bytes of each Artifact are what nobody has`,
    refused,
    hashes.map(() => none),
  );
}

type Manifest = { contentHash: string; sizeBytes: number };

function toldBy(outcome: Outcome<unknown>): string {
  if (outcome.ok || outcome.problem.kind !== 'refused') return answerOf(outcome);
  return `${outcome.problem.status} ${outcome.problem.code}: ${outcome.problem.message}`;
}

export type Account = AccountItem['account'];

export async function readAccount(play: Play): Promise<Account> {
  const budgets = whole(await play.readAs(play.cast.olga).list('budgets'));
  const found = budgets.find(({ account }) => account.owner.id === play.missionId);
  if (found === undefined) throw new StoryStopped(`the mission of ${play.lane} has a budget`);
  return found.account;
}

export function checkBudgets(checks: Checks, accounts: Readonly<Record<Lane, Account>>): void {
  for (const [lane, account] of Object.entries(accounts)) {
    const { limit, treeUsage } = account;
    const used = Object.entries(treeUsage ?? {}) as [keyof typeof limit, number][];
    const within = treeUsage !== null && used.every(([dimension, amount]) => amount <= (limit[dimension] ?? 0));
    checks.holds(`${lane}: what was used stays within the mission's budget`, within, account);
  }
}

function whole<Value>(outcome: Outcome<Value>): Value {
  if (outcome.ok) return outcome.value;
  throw new StoryStopped(`the owner reads a Group back (${describeProblem(outcome.problem)})`);
}
