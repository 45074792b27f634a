// Hash chains over signing hashes and over transitions: a removed, added or exchanged row breaks every link after it.
import { canonicalHash, sha256Label } from './canonical.ts';

/** Where a chain begins: bound to its tenant and stream, so that no chain can be passed off as another. */
export function chainStart(organizationId: string, streamId: string): string {
  return sha256Label(`mwp-authority chain ${organizationId} ${streamId}`);
}

/** The head of a stream before its first transition. */
export function emptyHead(organizationId: string, streamId: string) {
  const start = chainStart(organizationId, streamId);
  return { streamId, position: 0, revision: 0, lastEventAt: '', chainHash: start, logHash: start, policyPosition: 0 };
}

export function chainNext(previous: string, link: string): string {
  return sha256Label(`${previous} ${link}`);
}

/** The rows of one transition, as far as a log chain is about them; of other streams as well, where it touched several. */
export interface LoggedTransition {
  events: readonly {
    streamId: string;
    signingHash: string;
    admissionRecordId: string;
    trustedAcceptedAt: string;
    keyId: string;
  }[];
  /** The Command's first, then those of its documents in the order in which they stand in it. */
  admissions: readonly { streamId: string; record: string }[];
  /** Whole rows: every member counts. */
  policyLog: readonly { groupId: string }[];
  receipt: { streamId: string; body: string } | undefined;
}

/** What one transition adds to a stream's log chain; `mwp verify` makes it again from the rows. */
export function logDigest(streamId: string, { events, admissions, policyLog, receipt }: LoggedTransition): string {
  const own = events.filter((event) => event.streamId === streamId);
  return canonicalHash({
    events: own.map(({ signingHash }) => signingHash),
    eventAdmissions: own.map(({ admissionRecordId, trustedAcceptedAt, keyId }) => [
      admissionRecordId,
      trustedAcceptedAt,
      keyId,
    ]),
    admissions: admissions.filter((row) => row.streamId === streamId).map(({ record }) => sha256Label(record)),
    policyLog: policyLog.filter(({ groupId }) => groupId === streamId).map((row) => canonicalHash(row)),
    receipt: receipt?.streamId === streamId ? sha256Label(receipt.body) : null,
  });
}
