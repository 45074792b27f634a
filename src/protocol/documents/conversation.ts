// The Conversation: where Messages of a Group belong, and who may read them.

import { z } from 'zod';
import { actor, atLeastOne, extensions, id, safeInteger, text, timestamp } from './shapes.ts';

const access = z
  .strictObject({ mode: z.enum(['group', 'restricted']), members: atLeastOne(actor).optional() })
  .refine((value) => value.mode !== 'restricted' || value.members !== undefined, {
    path: ['members'],
    message: 'is required',
  });

const members = z.strictObject({
  conversationId: id,
  missionId: id,
  groupId: id,
  type: z.enum(['group', 'work_item', 'review', 'restricted']),
  primaryWorkItemId: id.optional(),
  title: text(1, 500),
  access,
  createdBy: actor,
  createdAt: timestamp,
  state: z.enum(['active', 'closed']),
  revision: safeInteger,
  extensions: extensions.optional(),
});
export type Conversation = z.infer<typeof members>;

export const conversationSchema = members
  .refine((value) => value.type !== 'work_item' || value.primaryWorkItemId !== undefined, {
    path: ['primaryWorkItemId'],
    message: 'is required',
  })
  .refine((value) => value.type !== 'restricted' || value.access.mode === 'restricted', {
    path: ['access', 'mode'],
    message: 'must be restricted',
  });
