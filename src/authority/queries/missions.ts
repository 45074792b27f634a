// Missions and their Groups, as their members read them.
import type { GroupAggregate, MissionAggregate } from '../../domain/aggregates.ts';
import { list, one } from '../../domain/reads.ts';
import type { Reader } from '../../store/port.ts';
import { withTexts } from './texts.ts';

export async function missionById(reader: Reader, missionId: string): Promise<MissionAggregate | undefined> {
  const { aggregates } = await reader.load([one('mission', missionId)]);
  return aggregates[0]?.document as MissionAggregate | undefined;
}

export async function missionsOfGroups(reader: Reader, groupIds: readonly string[]): Promise<MissionAggregate[]> {
  if (groupIds.length === 0) return [];
  const { aggregates } = await reader.load(groupIds.map((groupId) => list('mission', { groupId })));
  const byGroup = new Map(aggregates.map(({ groupId, document }) => [groupId, document as MissionAggregate]));
  return groupIds.flatMap((groupId) => byGroup.get(groupId) ?? []);
}

export async function groupsById(reader: Reader, groupIds: readonly string[]): Promise<Map<string, GroupAggregate>> {
  if (groupIds.length === 0) return new Map();
  const { aggregates } = await reader.load(groupIds.map((groupId) => one('group', groupId)));
  return new Map(aggregates.map(({ id, document }) => [id, document as GroupAggregate]));
}

/** `{ mission, details }`. */
export async function shownMission(reader: Reader, { mission, details }: MissionAggregate): Promise<unknown> {
  const [shown] = await withTexts(reader, mission.groupId, [{ mission, details }]);
  return shown;
}

export interface ShownGroup {
  group: GroupAggregate;
  headSequence: number;
  groupRevision: number;
}

/** Of a Group that exists. */
export async function shownGroup(reader: Reader, groupId: string): Promise<ShownGroup> {
  const { aggregates } = await reader.load([one('group', groupId)]);
  const head = await reader.stream(groupId);
  const group = aggregates[0]?.document as GroupAggregate | undefined;
  if (!group || !head) throw new Error(`Group without stream: ${groupId}`);
  return { group, headSequence: head.position, groupRevision: head.revision };
}
