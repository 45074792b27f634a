// Every Command kind that this authority executes. A new kind is a file and a line here.
import type { CommandKind } from '../decider.ts';
import { missionCreate } from './mission-create.ts';
import { workStart } from './work-start.ts';

const KINDS: readonly CommandKind<unknown>[] = [missionCreate, workStart] as CommandKind<unknown>[];

const BY_NAME: ReadonlyMap<string, CommandKind<unknown>> = new Map(KINDS.map((kind) => [kind.kind, kind]));

export function commandKindOf(kind: string): CommandKind<unknown> | undefined {
  return BY_NAME.get(kind);
}

export function executedCommandKinds(): string[] {
  return [...BY_NAME.keys()];
}
