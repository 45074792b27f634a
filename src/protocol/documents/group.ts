// The Mission Group record.

import { z } from 'zod';
import { extensions, id, timestamp } from './shapes.ts';

const members = z.strictObject({
  groupId: id,
  missionId: id,
  state: z.enum(['active', 'archived']),
  mainConversationId: id,
  createdAt: timestamp,
  archivedAt: timestamp.optional(),
  archiveSnapshotId: id.optional(),
  extensions: extensions.optional(),
});
export type Group = z.infer<typeof members>;

export const groupSchema = members.superRefine((group, context) => {
  for (const member of ['archivedAt', 'archiveSnapshotId'] as const) {
    const archived = group.state === 'archived';
    if ((group[member] !== undefined) === archived) continue;
    context.addIssue({ code: 'custom', path: [member], message: archived ? 'is required' : 'is not allowed' });
  }
});
