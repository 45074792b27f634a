// The view of one decision: what the plan loaded, and the further rounds that only loaded state can name.
import type { Request } from '../domain/decider.ts';
import type { Read } from '../domain/reads.ts';
import { View } from '../domain/view.ts';
import type { GroupId } from '../protocol/ids.ts';
import type { Acceptance, Opened } from '../store/port.ts';
import { firstReads, requestOf } from './plan.ts';
import type { PreparedCommand } from './prepare.ts';

/** Rounds of `moreReads` before a kind counts as broken: budget and lineage take one for each level of parents. */
const ROUNDS_MAXIMUM = 64;

export interface Gathered {
  view: View;
  /** JSON values of the texts that the kind asked for, by commitment. */
  texts: ReadonlyMap<string, unknown>;
}

export async function gather({ prepared }: PreparedCommand, opened: Opened, acceptance: Acceptance): Promise<Gathered> {
  const request = requestOf(prepared);
  let view = new View();
  view.admit(firstReads(prepared), opened.loaded);
  if (!request) return { view, texts: new Map() };
  if (prepared.kind.moreGroups) view = await lockFurtherGroups(prepared, request, view, opened, acceptance);
  await moreRounds(prepared, request, view, acceptance);
  return { view, texts: await textsFor(prepared, request, view, acceptance) };
}

/** What was read before these Groups were locked may have changed while waiting for them, so all of it is read again. */
async function lockFurtherGroups(
  prepared: PreparedCommand['prepared'],
  request: Request<unknown>,
  view: View,
  opened: Opened,
  acceptance: Acceptance,
): Promise<View> {
  const groupIds = [...new Set(prepared.kind.moreGroups?.(request, view) ?? [])]
    .filter((id) => !opened.heads.has(id))
    .sort();
  if (groupIds.length === 0) return view;
  const heads = await acceptance.lockGroups(groupIds as GroupId[]);
  for (const [streamId, head] of heads) opened.heads.set(streamId, head);
  const reads = firstReads(prepared);
  const fresh = new View();
  fresh.admit(reads, await acceptance.load(reads));
  return fresh;
}

async function moreRounds(
  { kind }: PreparedCommand['prepared'],
  request: Request<unknown>,
  view: View,
  acceptance: Acceptance,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAXIMUM; round += 1) {
    const wanted = kind.moreReads?.(request, view) ?? [];
    const reads = wanted.filter((read: Read) => !view.isLoaded(read));
    if (reads.length === 0) return;
    view.admit(reads, await acceptance.load(reads));
  }
  throw new Error(`${kind.kind} names new reads without end`);
}

async function textsFor(
  { kind }: PreparedCommand['prepared'],
  request: Request<unknown>,
  view: View,
  acceptance: Acceptance,
): Promise<Map<string, unknown>> {
  const commitments = kind.texts?.(request, view) ?? [];
  const groupId = request.command.groupId;
  if (commitments.length === 0 || groupId === undefined) return new Map();
  const texts = await acceptance.texts(groupId, [...new Set(commitments)]);
  return new Map([...texts].map(([commitment, value]) => [commitment, JSON.parse(value) as unknown]));
}
