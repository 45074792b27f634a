// The names in a document that failed its schema: ids of well-formed text, and nothing else of it. A claim of the sender.
import { isJsonObject } from '../protocol/documents/json-value.ts';
import { actor, id } from '../protocol/documents/shapes.ts';
import type { Principal } from '../protocol/principals.ts';

export interface ClaimedNames {
  actor?: Principal;
  actionId?: string;
  groupId?: string;
  keyId?: string;
}

export function claimedNames(value: unknown): ClaimedNames {
  if (!isJsonObject(value)) return {};
  const names: ClaimedNames = {};
  const claimed = actor.safeParse(value['actor']);
  if (claimed.success) names.actor = claimed.data;
  const actionId = id.safeParse(value['actionId']);
  if (actionId.success) names.actionId = actionId.data;
  const groupId = id.safeParse(value['groupId']);
  if (groupId.success) names.groupId = groupId.data;
  const signature = value['signature'];
  const keyId = id.safeParse(isJsonObject(signature) ? signature['keyId'] : undefined);
  if (keyId.success) names.keyId = keyId.data;
  return names;
}
