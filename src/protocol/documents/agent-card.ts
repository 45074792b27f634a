// The Agent Card: a service of the Organization vouches for an Agent's keys, endpoints and capabilities.

import { z } from 'zod';
import { actor, atLeastOne, capabilityId, extensions, id, jsonObject, positiveInteger } from './shapes.ts';
import { protocolVersion, publicKey, semver, sha256, signature, text, timestamp } from './shapes.ts';
import { uniqueAtLeastOne, uri } from './shapes.ts';

const capability = z.strictObject({
  id: capabilityId,
  version: semver,
  inputSchema: uri,
  inputSchemaHash: sha256,
  outputSchema: uri,
  outputSchemaHash: sha256,
  constraints: jsonObject,
  verifiedEvidence: uniqueAtLeastOne(id),
});

export const agentCardSchema = z.strictObject({
  agentId: id,
  organizationId: id,
  cardVersion: positiveInteger,
  displayName: text(1, 200),
  description: text(0, 4000).optional(),
  owner: actor,
  status: z.enum(['active', 'deprecated', 'revoked']),
  protocolVersions: uniqueAtLeastOne(protocolVersion),
  endpoints: atLeastOne(
    z.strictObject({
      transport: z.literal('wss'),
      uri: uri.refine((value) => value.startsWith('wss://'), 'must begin with wss://').meta({ pattern: '^wss://' }),
    }),
  ),
  publicKeys: atLeastOne(publicKey),
  capabilities: atLeastOne(capability),
  maxConcurrency: positiveInteger,
  issuedAt: timestamp,
  validUntil: timestamp.optional(),
  extensions: extensions.optional(),
  signature,
});
export type AgentCard = z.infer<typeof agentCardSchema>;
