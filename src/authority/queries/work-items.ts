// WorkItems and proposals, as their readers get them.
import type { WorkItemAggregate, WorkProposalAggregate } from '../../domain/aggregates.ts';
import { checkApproval } from '../../domain/commands/work-start.ts';
import { list, one } from '../../domain/reads.ts';
import { missionRead } from '../../domain/roles.ts';
import { View } from '../../domain/view.ts';
import type { Reader } from '../../store/port.ts';
import { withTexts } from './texts.ts';

/** Undefined also for an item of another Group. */
export async function workItemById(
  reader: Reader,
  groupId: string,
  workItemId: string,
): Promise<WorkItemAggregate | undefined> {
  const { aggregates } = await reader.load([one('work_item', workItemId)]);
  const item = aggregates[0]?.document as WorkItemAggregate | undefined;
  return item?.workItem.groupId === groupId ? item : undefined;
}

/** `{ workItem, details }`, with `details.awaitingExecutionApproval` where that is what a queued item waits for (T-2). */
export async function shownWorkItems(reader: Reader, groupId: string, items: WorkItemAggregate[]): Promise<unknown[]> {
  const waiting = await awaitingApproval(reader, groupId, items);
  return withTexts(
    reader,
    groupId,
    items.map(({ workItem, details }) => ({
      workItem,
      details: waiting.has(workItem.workItemId) ? { ...details, awaitingExecutionApproval: true } : details,
    })),
  );
}

/** Asked of the very rule that work.start obeys, as of now. */
async function awaitingApproval(reader: Reader, groupId: string, items: WorkItemAggregate[]): Promise<Set<string>> {
  const queued = items.filter(({ workItem }) => workItem.state === 'queued');
  if (queued.length === 0) return new Set();
  const approvals = new Set(queued.flatMap(({ details }) => details.executionApprovalIds));
  const reads = [missionRead(groupId), ...[...approvals].map((approvalId) => one('approval', approvalId))];
  const view = new View();
  view.admit(reads, await reader.load(reads));
  const context = { now: await reader.now(), policy: await reader.policy() };
  const waiting = queued.filter((item) => checkApproval(item, view, context) !== undefined);
  return new Set(waiting.map(({ workItem }) => workItem.workItemId));
}

/** `{ proposal }`. A proposal is no document of the protocol; its `contract` is. */
export function shownProposals(reader: Reader, groupId: string, proposals: WorkProposalAggregate[]) {
  return withTexts(
    reader,
    groupId,
    proposals.map((proposal) => ({ proposal })),
  );
}

/** Content hashes that the contracts of an Agent's own WorkItems in this Group name as inputs. */
export async function ownInputs(reader: Reader, groupId: string, agentId: string): Promise<Set<string>> {
  const { aggregates } = await reader.load([list('work_item', { groupId, holder: agentId })]);
  return new Set(
    aggregates.flatMap(({ document }) => (document as WorkItemAggregate).workItem.contract.inputArtifacts),
  );
}
