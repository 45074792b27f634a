// The Artifact manifest, signed by the producing Agent. The content itself lives elsewhere under its hash.

import { z } from 'zod';
import { array, atLeastOne, capabilityRef, classification, extensions, id, mediaType } from './shapes.ts';
import { positiveInteger, safeInteger, sha256, signature, text, timestamp, unique, uri } from './shapes.ts';

export const artifactSchema = z.strictObject({
  artifactId: id,
  contentHash: sha256,
  uri,
  sizeBytes: safeInteger,
  mediaType,
  schemaUri: uri,
  producer: z.strictObject({
    agentId: id,
    agentCardVersion: positiveInteger,
    capabilities: atLeastOne(capabilityRef),
  }),
  missionId: id,
  groupId: id,
  workItemId: id,
  sourceArtifactHashes: unique(sha256),
  toolVersions: array(z.strictObject({ name: text(1, 200), version: text(1, 200) })),
  modelVersions: array(z.strictObject({ provider: text(1, 200), model: text(1, 200), version: text(1, 200) })),
  classification,
  createdAt: timestamp,
  extensions: extensions.optional(),
  signature,
});
export type Artifact = z.infer<typeof artifactSchema>;
