// approval.execution.granted: an Execution Approval stands until its end or the next Ownership Epoch. It is the Mission's
// to grant, so the WorkItem's revision stays (commands.md (c)).
import type { ApprovalAggregate } from '../aggregates.ts';
import { APPROVAL_TEXTS, setApproval, type FoldedApproval } from '../approvals.ts';
import type { EventKind } from '../decider.ts';

interface ApprovalExecutionGranted {
  workItemId: string;
  approval: FoldedApproval;
  approvalHash: string;
  scope: NonNullable<ApprovalAggregate['scope']>;
}

export const approvalExecutionGranted: EventKind<ApprovalExecutionGranted> = {
  kind: 'approval.execution.granted',
  erasable: APPROVAL_TEXTS,

  evolve(view, { payload: { workItemId, approval, approvalHash, scope } }) {
    setApproval(view, approval, approvalHash, scope);
    const item = view.toChange('work_item', workItemId);
    if (!item) return;
    const { workItem, details } = item;
    const executionApprovalIds = [...details.executionApprovalIds, approval.approvalId];
    view.set('work_item', workItemId, workItem.groupId, { workItem, details: { ...details, executionApprovalIds } });
  },
};
