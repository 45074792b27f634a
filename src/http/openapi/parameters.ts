// The parameters of paths, by their names: the same name means the same thing everywhere.
import type { JsonSchema } from './operation.ts';
import { ID_MAXIMUM } from '../parameters.ts';

const id: JsonSchema = { type: 'string', format: 'uri', maxLength: ID_MAXIMUM };

const PATH_PARAMETERS: Readonly<Record<string, { description: string; schema: JsonSchema; example?: string }>> = {
  slug: {
    description: 'The short name of the Organization.',
    schema: { type: 'string', pattern: '^[a-z0-9-]{1,63}$' },
    example: 'acme',
  },
  missionId: {
    description: 'Id of a Mission, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  groupId: {
    description: 'Id of a Group, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  workItemId: {
    description: 'Id of a WorkItem, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  conversationId: {
    description: 'Id of a Conversation, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  snapshotId: {
    description: 'Id of a snapshot, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  eventId: {
    description: 'Id of an Event, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  actionId: {
    description: 'Action ID of a Command of the caller, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  contentHash: {
    description: 'SHA-256 of the bytes, as manifests write it.',
    schema: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    example: `sha256:${'5e'.repeat(32)}`,
  },
  agentId: {
    description: 'Id of an Agent, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
  file: { description: 'Name of the file.', schema: { type: 'string' }, example: 'swagger-ui.css' },
  service: {
    description: "One of the Organization's own services.",
    schema: { type: 'string', enum: ['authority', 'identity', 'registrar'] },
    example: 'authority',
  },
  keyId: {
    description: 'Id of a key, percent-encoded.',
    schema: id,
    example: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
  },
};

export function pathParameter(name: string): JsonSchema {
  const known = PATH_PARAMETERS[name];
  if (!known) throw new Error(`the path parameter ${name} is not described (src/http/openapi/parameters.ts)`);
  return { name, in: 'path', required: true, ...known };
}
