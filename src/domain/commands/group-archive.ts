// group_archive: an authorised service closes a Group whose Mission has ended, on the authority's own signed snapshot of
// its last state (commands.md (l), MWP-MSN-009b, MWP-EVT-005e). Child Groups are archived each on their own.
import type { z } from 'zod';
import type { GroupSnapshot } from '../../protocol/documents/group-snapshot.ts';
import { jsonObject } from '../../protocol/documents/shapes.ts';
import { samePrincipal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import { addSeconds, compareTimestamps } from '../../protocol/timestamps.ts';
import type { CommandKind, DecisionContext, PolicyEntryDraft } from '../decider.ts';
import type { GroupRecord } from '../group-record.ts';
import { unendedMembershipsRead } from '../memberships.ts';
import { missionEvent, missionRevision } from '../missions.ts';
import { checkMissionTerminal, groupOf, missionOf } from '../roles.ts';
import { payload } from './shapes.ts';

const schema = payload({ snapshot: jsonObject });

/** In seconds. */
const MILLISECOND = 0.001;

export type GroupArchivePayload = z.infer<typeof schema>;

export const groupArchive: CommandKind<GroupArchivePayload> = {
  kind: 'ext.missionweaveprotocol.core.group_archive',
  payload: schema,
  actors: ['service'],
  group: 'existing',
  decidesOnRecord: true,

  documents: ({ snapshot }) => [{ path: 'snapshot', kind: 'group-snapshot', value: snapshot }],
  revision: ({ command }, view) => missionRevision(command, view),
  /** `evolve` ends them. */
  reads: ({ command }) => [unendedMembershipsRead(groupOf(command))],

  decide({ command, payload }, view, context) {
    const { record } = context;
    if (!record) throw new Error('an archival is decided on the record of its Group');
    const snapshot = payload.snapshot as unknown as GroupSnapshot;
    const groupId = groupOf(command);
    const refusal =
      checkMissionTerminal(command, view) ??
      checkSigner(snapshot, context) ??
      checkPlace(snapshot, groupId, context) ??
      checkTimes(snapshot, command.issuedAt, record) ??
      checkKnown(record, context) ??
      checkContent(snapshot, record, context);
    if (refusal) return refusal;
    const { snapshotId, throughSequence, stateHash } = snapshot;
    const envelope = missionEvent(missionOf(view, groupId));
    return {
      events: [
        {
          kind: 'group.snapshot.created',
          ...envelope,
          payload: { snapshotId, throughSequence, stateHash, snapshotHash: context.hash(snapshot) },
        },
        { kind: 'group.archived', ...envelope, payload: { snapshotId, archivedAt: archivalTime(context.now, record) } },
      ],
      primary: 1,
      policyLog: [archivalEntry(groupId, snapshotId, record)],
      ...sealing(record),
    };
  },
};

/** Later than all before it: a Membership that ended in the same millisecond was not ended by archival. */
function archivalTime(now: string, { lastEventAt }: GroupRecord): string {
  return compareTimestamps(now, lastEventAt) > 0 ? now : addSeconds(lastEventAt, MILLISECOND);
}

/** Any service could sign one; only the authority's is of the state that it keeps. */
function checkSigner({ createdBy }: GroupSnapshot, { authority }: DecisionContext): Refusal | undefined {
  if (samePrincipal(createdBy, authority)) return undefined;
  return refuse('AUTH_FORBIDDEN', 'the snapshot is not signed by the Group Authority');
}

function checkPlace(snapshot: GroupSnapshot, groupId: string, context: DecisionContext): Refusal | undefined {
  if (snapshot.groupId !== groupId) return refuse('INVALID_COMMAND', 'the snapshot is of another Group');
  const { throughSequence: expectedRevision } = snapshot;
  const { headSequence: currentRevision } = context;
  if (expectedRevision === currentRevision) return undefined;
  const detail = { expectedRevision, currentRevision };
  return refuse('REVISION_CONFLICT', 'the snapshot does not end where the Group ends now', detail);
}

function checkTimes({ createdAt }: GroupSnapshot, issuedAt: string, record: GroupRecord): Refusal | undefined {
  if (compareTimestamps(createdAt, record.lastEventAt) < 0) {
    return refuse('INVALID_COMMAND', 'the snapshot is older than the last Event of the Group');
  }
  if (compareTimestamps(createdAt, issuedAt) <= 0) return undefined;
  return refuse('INVALID_COMMAND', 'the snapshot is newer than the Command');
}

/** What the authority did not take here proves nothing about what is here, however well it is signed. */
function checkKnown({ snapshot }: GroupRecord, { documentHashes }: DecisionContext): Refusal | undefined {
  if (snapshot && snapshot.signingHash === documentHashes.get('snapshot')) return undefined;
  return refuse('INVALID_COMMAND', 'no such snapshot of this Group was taken here');
}

/** Asked again although the authority signed it: an archive is not to rest on rows that were changed since. */
function checkContent(snapshot: GroupSnapshot, record: GroupRecord, { hash }: DecisionContext): Refusal | undefined {
  if (snapshot.stateHash !== record.stateHash) {
    return refuse('INVALID_COMMAND', 'the state of the Group is not what the snapshot says');
  }
  const [, ...entries] = snapshot.policyLog;
  const isWhole = record.snapshot?.policyThrough === record.policyPosition;
  if (isWhole && hash(entries) === hash(record.policyLog)) return undefined;
  return refuse('INVALID_COMMAND', 'the policy log of the Group is not what the snapshot says');
}

/** Only what there is; what is refused from now on stays where the refusals of any Group are. */
function sealing({ refusals: { count, firstId, lastId } }: GroupRecord) {
  if (firstId === undefined || lastId === undefined) return {};
  return { sealsRefusals: { count, firstId, lastId } };
}

function archivalEntry(groupId: string, snapshotId: string, { refusals }: GroupRecord): PolicyEntryDraft {
  const details = { rule: 'MWP-SDV-018d', snapshotId, refusedCommands: { ...refusals } };
  return { groupId, decision: 'the Group is archived', details, draft: 1 };
}
