// Every Event kind that this authority appends and folds. A new kind is a file and a line here.
import type { EventKind } from '../decider.ts';
import { missionCreated } from './mission-created.ts';
import { workStarted } from './work-started.ts';

const KINDS: readonly EventKind<unknown>[] = [missionCreated, workStarted] as EventKind<unknown>[];

const BY_NAME: ReadonlyMap<string, EventKind<unknown>> = new Map(KINDS.map((kind) => [kind.kind, kind]));

/** Throws for a kind that nothing here appends: such an Event in a log is corruption, not input. */
export function eventKindOf(kind: string): EventKind<unknown> {
  const found = BY_NAME.get(kind);
  if (!found) throw new Error(`unknown Event kind: ${kind}`);
  return found;
}

export function foldedEventKinds(): string[] {
  return [...BY_NAME.keys()];
}
