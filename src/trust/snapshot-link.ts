// What our snapshots say beside the members of the protocol's schema: the first entry of their policy log. It binds a
// snapshot to its Organization, to the one before it, to the chains of its Group and to its state packs, all signed with it.
import { z } from 'zod';
import type { GroupSnapshot, PolicyLogEntry } from '../protocol/documents/group-snapshot.ts';
import { id, positiveInteger, safeInteger, sha256 } from '../protocol/documents/shapes.ts';

const LINK_FORMAT = 1;

const statePack = z.strictObject({
  /** Address of the pack's bytes. */
  hash: sha256,
  documents: positiveInteger,
  bytes: positiveInteger,
});
export type StatePack = z.infer<typeof statePack>;

const link = z.strictObject({
  format: z.literal(LINK_FORMAT),
  organizationId: id,
  /** Of this snapshot among those of its Group. */
  position: positiveInteger,
  /** null: there is none before it. */
  previous: z
    .strictObject({ snapshotId: id, snapshotArtifactHash: sha256, throughSequence: positiveInteger })
    .nullable(),
  /** Of the Group at `throughSequence`: a tail that is cut off below it shows. */
  head: z.strictObject({ revision: positiveInteger, chainHash: sha256, logHash: sha256 }),
  /** Positions in the Group's Policy Log: the entries that follow here are those after `after` up to `through`. */
  policyLog: z.strictObject({ after: safeInteger, through: safeInteger }),
  /** In the order in which they are laid over each other: later ones win. */
  statePacks: z.array(statePack).min(1),
});
export type SnapshotLink = Omit<z.infer<typeof link>, 'format'>;

export function linkEntry(told: SnapshotLink, about: Omit<PolicyLogEntry, 'decision' | 'details'>): PolicyLogEntry {
  const decision = told.previous
    ? 'this snapshot follows the one that is named here'
    : 'this is the first snapshot of its Group';
  return { ...about, decision, details: { format: LINK_FORMAT, ...told } };
}

/** An entry of the log as a snapshot repeats it; `details`: JSON text. */
export function policyEntryOf(row: Omit<PolicyLogEntry, 'details'> & { details: string }): PolicyLogEntry {
  const { entryId, decision, actor, occurredAt, details } = row;
  return { entryId, decision, actor, occurredAt, details: JSON.parse(details) as PolicyLogEntry['details'] };
}

/** Undefined where the first entry is no such link. */
export function linkOf({ policyLog }: GroupSnapshot): SnapshotLink | undefined {
  const read = link.safeParse(policyLog[0]?.details);
  if (!read.success) return undefined;
  const { format: _, ...told } = read.data;
  return told;
}
