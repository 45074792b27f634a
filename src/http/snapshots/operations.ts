// What the routes of snapshots promise.
import { z } from 'zod';
import { firstAdmissionRecordSchema } from '../../protocol/documents/first-admission-record.ts';
import { groupSnapshotSchema } from '../../protocol/documents/group-snapshot.ts';
import { positiveInteger, sha256 } from '../../protocol/documents/shapes.ts';
import { component } from '../openapi/components.ts';
import type { Operation, Refused } from '../openapi/operation.ts';

const snapshotAnswer = component(
  'SnapshotAnswer',
  z.strictObject({
    snapshot: groupSnapshotSchema,
    details: z.strictObject({
      snapshotArtifactHash: sha256.meta({
        description: 'Hash of the canonical form of `snapshot`, signature included.',
      }),
      admissionRecord: firstAdmissionRecordSchema,
      statePacks: z
        .array(z.strictObject({ hash: sha256, documents: positiveInteger, bytes: positiveInteger }))
        .min(1)
        .meta({ description: 'What the state is kept in, as the snapshot signs it.' }),
      statePath: z.string().meta({ description: 'Where its state is streamed, below the Organization.' }),
    }),
  }),
);

/** Of a Group that the caller may not see whole, none is there. */
const NO_SUCH: Refused = { code: 'INVALID_COMMAND', status: 404 };
const ofSnapshots = { tag: 'Groups', access: 'tenant' } as const;
const refusals = ['GROUP_NOT_FOUND', 'MEMBERSHIP_REQUIRED', NO_SUCH] as const;
const answered = (description: string) => ({ description, schema: snapshotAnswer });

export const TAKE: Operation = {
  ...ofSnapshots,
  id: 'takeSnapshot',
  summary: 'Sign the state of the Group as it stands',
  description:
    'For the owner and the Coordinator of the Mission, with full visibility, and for auditors. It changes nothing in the Group and appends no Event.',
  answers: {
    200: answered('Nothing was accepted since the latest snapshot, or another request was first: that one.'),
    201: answered('A new snapshot.'),
  },
  refusals: ['GROUP_NOT_FOUND', 'MEMBERSHIP_REQUIRED', 'AUTH_FORBIDDEN'],
};

export const READ_LATEST: Operation = {
  ...ofSnapshots,
  id: 'readLatestSnapshot',
  summary: 'The latest signed snapshot of the Group',
  description: 'For full members and auditors. To everybody else a Group has no snapshots.',
  answers: { 200: answered('The snapshot, and what it takes to believe it.') },
  refusals,
};

export const READ_SNAPSHOT: Operation = {
  ...READ_LATEST,
  id: 'readSnapshot',
  summary: 'One signed snapshot of the Group',
};

export const READ_STATE: Operation = {
  ...ofSnapshots,
  id: 'readSnapshotState',
  summary: 'The state behind a snapshot, as a stream of lines',
  description:
    'The first line is a header with `format`, `organizationId`, `groupId`, `throughSequence`, `stateHash` and the number of `aggregates`; each line after it is one aggregate with `kind`, `id` and `document`. The state document of what came must hash to the signed `stateHash`; texts stand in it as commitments. A stream that breaks off is not whole.',
  answers: { 200: { description: 'Lines of JSON.', contentTypes: ['application/x-ndjson'] } },
  refusals,
};
