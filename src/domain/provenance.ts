// Which Artifacts a Mission may build on: its own, and those of its ancestors and descendants (MWP-WRK-024a, -028a).
import type { ArtifactAggregate } from './aggregates.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { list, one, type ListRead, type Read } from './reads.ts';
import { missionRead } from './roles.ts';
import type { View } from './view.ts';

/** Every Artifact with this content, of whatever Mission. */
export function contentRead(hash: string): ListRead & { kind: 'artifact' } {
  return list('artifact', { holder: hash }) as ListRead & { kind: 'artifact' };
}

/** The Missions above this one and above those that hold the content. */
export function lineageReads(view: View, groupId: string, hashes: readonly string[]): Read[] {
  const own = view.list(missionRead(groupId))[0]?.mission.missionId;
  if (own === undefined) return [];
  const strangers = hashes
    .flatMap((hash) => view.list(contentRead(hash)))
    .map(({ missionId }) => missionId)
    .filter((missionId) => missionId !== own);
  if (strangers.length === 0) return [];
  return [own, ...new Set(strangers)].flatMap((missionId) => ancestryReads(view, missionId));
}

function ancestryReads(view: View, missionId: string): Read[] {
  const read = one('mission', missionId);
  if (!view.isLoaded(read)) return [read];
  const parent = view.get('mission', missionId)?.mission.parent;
  return parent ? [read, ...ancestryReads(view, parent.missionId)] : [read];
}

/** Those with this content that the Mission may use. */
export function usableArtifacts(view: View, missionId: string, hash: string): ArtifactAggregate[] {
  return view.list(contentRead(hash)).filter((artifact) => isKin(view, missionId, artifact.missionId));
}

function isKin(view: View, a: string, b: string): boolean {
  return a === b || ancestry(view, a).includes(b) || ancestry(view, b).includes(a);
}

function ancestry(view: View, missionId: string): string[] {
  const parent = view.get('mission', missionId)?.mission.parent;
  return parent ? [parent.missionId, ...ancestry(view, parent.missionId)] : [];
}

/**
 * Inputs of a contract. Content that nobody published yet comes from outside and may be named; content that only another
 * Mission published may not, until this one has it too (MWP-WRK-028a).
 */
export function checkInputs(view: View, missionId: string, hashes: readonly string[]): Refusal | undefined {
  const foreign = hashes.find(
    (hash) => view.list(contentRead(hash)).length > 0 && usableArtifacts(view, missionId, hash).length === 0,
  );
  if (foreign === undefined) return undefined;
  return refuse('AUTH_FORBIDDEN', 'an input Artifact is not available to this Mission', {
    details: { artifactHash: foreign },
  });
}
