// The Extension Profile: which kinds an extension adds, pinned to its schema. It can override no core invariant.

import { z } from 'zod';
import { actor, array, capabilityRef, extensionKind, id, semver, sha256, signature, text } from './shapes.ts';
import { timestamp, unique, uri } from './shapes.ts';

export const extensionProfileSchema = z.strictObject({
  profileUri: id,
  name: text(1, 200),
  version: semver,
  schemaUri: uri,
  schemaHash: sha256,
  requiredCapabilities: array(capabilityRef),
  critical: z.boolean(),
  commandKinds: unique(extensionKind),
  eventKinds: unique(extensionKind),
  overridesCoreInvariants: z.literal(false),
  approvedBy: actor,
  approvedAt: timestamp,
  signature,
});
export type ExtensionProfile = z.infer<typeof extensionProfileSchema>;
