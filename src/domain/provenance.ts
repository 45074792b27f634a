// Which Artifacts a Mission may build on: its own, and those of its ancestors and descendants (MWP-WRK-024a, -028a).
import type { ArtifactAggregate } from './aggregates.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { list, one, type ListRead, type Read } from './reads.ts';
import { missionRead } from './roles.ts';
import type { View } from './view.ts';

type ArtifactList = ListRead & { kind: 'artifact' };

/** Artifacts with this content, of whatever Mission; where there are very many, some of them. */
function contentRead(hash: string): ArtifactList {
  return list('artifact', { holder: hash }) as ArtifactList;
}

/** Those of one Group, which may not be among the some. */
function ownContentRead(groupId: string, hash: string): ArtifactList {
  return list('artifact', { holder: hash, groupId }) as ArtifactList;
}

export function contentReads(groupId: string, hash: string): Read[] {
  return [contentRead(hash), ownContentRead(groupId, hash)];
}

export function isKnownContent(view: View, hash: string): boolean {
  return view.list(contentRead(hash)).length > 0;
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

interface Place {
  missionId: string;
  groupId: string;
}

/** Those with this content that the Mission may use. */
export function usableArtifacts(view: View, { missionId, groupId }: Place, hash: string): ArtifactAggregate[] {
  const own = view.list(ownContentRead(groupId, hash));
  const others = view.list(contentRead(hash)).filter((artifact) => artifact.groupId !== groupId);
  return [...own, ...others.filter((artifact) => isKin(view, missionId, artifact.missionId))];
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
export function checkInputs(view: View, place: Place, hashes: readonly string[]): Refusal | undefined {
  const foreign = hashes.find((hash) => isKnownContent(view, hash) && usableArtifacts(view, place, hash).length === 0);
  if (foreign === undefined) return undefined;
  return refuse('AUTH_FORBIDDEN', 'an input Artifact is not available to this Mission', {
    details: { artifactHash: foreign },
  });
}
