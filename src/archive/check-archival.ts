// The transition that archives a Group against the history before it: the snapshot in its Command is the authority's, of
// exactly the state, head and chains that the walk has come to, and the Events say of it what there is to say.
import type { GroupSnapshot } from '../protocol/documents/group-snapshot.ts';
import { samePrincipal } from '../protocol/principals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { EventRow, StreamHead } from '../store/port.ts';
import { linkOf } from '../trust/snapshot-link.ts';
import { canonicalHash } from '../wire/canonical.ts';
import type { Accepting } from './check-signatures.ts';
import { compareColumns, type Findings } from './findings.ts';
import type { RecordedTransition } from './recorded.ts';

export const SNAPSHOT_CREATED = 'group.snapshot.created';
export const ARCHIVED = 'group.archived';

/** Where the walk stood before the transition. */
export interface BeforeArchival {
  end: Omit<StreamHead, 'rootGroupId'>;
  /** Undefined where the Events before gave no state. */
  stateHash: string | undefined;
}

export function isArchival({ events }: Pick<RecordedTransition, 'events'>): boolean {
  return events.some(({ kind }) => kind === ARCHIVED || kind === SNAPSHOT_CREATED);
}

export function checkArchival(
  recorded: RecordedTransition,
  before: BeforeArchival,
  { organizationId, authority }: Pick<Accepting, 'organizationId' | 'authority'>,
  findings: Findings,
): void {
  const where = `the archival at revision ${recorded.revision}`;
  const [created, archived, ...others] = recorded.events;
  if (created?.kind !== SNAPSHOT_CREATED || archived?.kind !== ARCHIVED || others.length > 0)
    return findings.fault(`${where}: is not one snapshot and one end`);
  if (recorded.receipt && recorded.receipt.primaryEventId !== archived.eventId)
    findings.fault(`${where}: its receipt is not for the end of the Group`);
  const [embedded, ...more] = recorded.command?.embedded ?? [];
  if (embedded?.kind !== 'group-snapshot' || more.length > 0) return findings.fault(`${where}: carries no snapshot`);
  const snapshot = embedded.value as GroupSnapshot;
  const link = linkOf(snapshot);
  if (!link || !samePrincipal(snapshot.createdBy, authority))
    return findings.fault(`${where}: the snapshot is none of the authority's`);
  const { end, stateHash = snapshot.stateHash } = before;
  compareColumns(
    findings,
    `${where}: the snapshot`,
    { ...snapshot, organizationId: link.organizationId, head: link.head, policy: link.policyLog.through },
    {
      organizationId,
      groupId: end.streamId,
      throughSequence: end.position,
      stateHash,
      head: { revision: end.revision, chainHash: end.chainHash, logHash: end.logHash },
      policy: end.policyPosition,
    },
  );
  const { snapshotId, throughSequence } = snapshot;
  const said = { snapshotId, throughSequence, stateHash: snapshot.stateHash, snapshotHash: canonicalHash(snapshot) };
  comparePayload(findings, `${where}: ${SNAPSHOT_CREATED}`, payloadOf(created), said);
  const { archivedAt, ...rest } = payloadOf(archived);
  comparePayload(findings, `${where}: ${ARCHIVED}`, rest, { snapshotId });
  // A millisecond later where an Event came before it in the same one (group-archive.ts).
  if (typeof archivedAt !== 'string' || compareTimestamps(archivedAt, archived.occurredAt) < 0)
    findings.fault(`${where}: is dated before it was accepted`);
}

/** Its own id for itself, of a Group that was archived here; undefined: it was not. */
export function archivedOn(events: readonly EventRow[]): { snapshotId?: unknown; snapshotHash?: unknown } | undefined {
  const created = events.find(({ kind }) => kind === SNAPSHOT_CREATED);
  return created && payloadOf(created);
}

function payloadOf({ body }: EventRow): Record<string, unknown> {
  try {
    return (JSON.parse(body) as { payload: Record<string, unknown> }).payload;
  } catch {
    return {};
  }
}

function comparePayload(findings: Findings, where: string, payload: object, expected: object): void {
  if (canonicalHash(payload) === canonicalHash(expected)) return;
  findings.fault(`${where}: does not say what the snapshot is`);
}
