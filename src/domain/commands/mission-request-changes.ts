// mission.request_changes: a signed change request returns the Mission to work (commands.md 1.8, MT-5).
import type { z } from 'zod';
import type { Approval } from '../../protocol/documents/approval.ts';
import { jsonObject, positiveInteger, text } from '../../protocol/documents/shapes.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import { checkAnswer, checkApprover } from '../approvals.ts';
import type { CommandKind } from '../decider.ts';
import { missionEvent, missionRevision } from '../missions.ts';
import { one } from '../reads.ts';
import { checkAwaitingApproval, groupOf, missionOf } from '../roles.ts';
import { embeddedId, payload } from './shapes.ts';

const schema = payload({ missionRevision: positiveInteger, feedback: text(1, 10_000), approval: jsonObject });

export type MissionRequestChangesPayload = z.infer<typeof schema>;

export const missionRequestChanges: CommandKind<MissionRequestChangesPayload> = {
  kind: 'mission.request_changes',
  payload: schema,
  actors: ['human'],
  group: 'existing',

  documents: ({ approval }) => [{ path: 'approval', kind: 'approval', value: approval }],
  revision: ({ command }, view) => missionRevision(command, view),
  reads: ({ payload }) => [one('approval', embeddedId(payload.approval, 'approvalId'))],

  decide({ command, payload }, view, { documentHashes }) {
    const approval = payload.approval as Approval;
    const refusal =
      checkApprover(command, approval, view) ??
      checkAwaitingApproval(command, view) ??
      checkSaysTheSame(payload, approval) ??
      checkAnswer(command, approval, 'changes_requested', view);
    if (refusal) return refusal;
    const aggregate = missionOf(view, groupOf(command));
    const { missionId, groupId, revision } = aggregate.mission;
    const approvalHash = documentHashes.get('approval');
    return {
      events: [
        {
          kind: 'mission.changes_requested',
          ...missionEvent(aggregate, revision + 1),
          payload: { missionId, feedback: payload.feedback, newRevision: revision + 1, approval, approvalHash },
        },
      ],
      policyLog: [
        {
          groupId,
          decision: 'mission.changes_requested',
          details: { missionId, missionRevision: revision, approvalId: approval.approvalId, approvalHash },
          draft: 0,
        },
      ],
    };
  },
};

/** The signed document and the Command's own members are one request. */
function checkSaysTheSame(payload: MissionRequestChangesPayload, approval: Approval): Refusal | undefined {
  if (payload.feedback !== approval.comments) {
    return refuse('INVALID_COMMAND', 'the feedback differs from the comments of the signed change request');
  }
  if (payload.missionRevision !== approval.missionRevision) {
    return refuse('INVALID_COMMAND', 'missionRevision differs from that of the signed change request');
  }
  return undefined;
}
