// group.archived: the Group is closed, and every Membership in it has ended; who was a member then goes on reading.
import type { EventKind } from '../decider.ts';
import { archivedMembership, setMemberships, unendedMembershipsRead } from '../memberships.ts';

interface GroupArchived {
  snapshotId: string;
  archivedAt: string;
}

export const groupArchived: EventKind<GroupArchived> = {
  kind: 'group.archived',
  erasable: [],

  evolve(view, { groupId = '', payload: { snapshotId, archivedAt } }) {
    const group = view.toChange('group', groupId);
    if (group) {
      view.set('group', groupId, groupId, { ...group, state: 'archived', archivedAt, archiveSnapshotId: snapshotId });
    }
    for (const membership of view.list(unendedMembershipsRead(groupId))) {
      setMemberships(view, archivedMembership(membership, archivedAt));
    }
  },
};
