// WorkItems and proposals, as their readers get them.
import type { WorkItemAggregate, WorkProposalAggregate } from '../../domain/aggregates.ts';
import { list, one } from '../../domain/reads.ts';
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

/** `{ workItem, details }`. */
export function shownWorkItems(reader: Reader, groupId: string, items: WorkItemAggregate[]): Promise<unknown[]> {
  return withTexts(
    reader,
    groupId,
    items.map(({ workItem, details }) => ({ workItem, details })),
  );
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
