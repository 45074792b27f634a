// Agent Cards as an operator hands them in: unsigned, the service fills in Organization and time.
import type { ActorKey } from '../../src/worker/keys.ts';

const HASH = `sha256:${'a'.repeat(64)}`;

export function agentCard({ principal, keyId, publicKey }: ActorKey, more: object = {}): object {
  return {
    agentId: principal.id,
    cardVersion: 1,
    displayName: 'An Agent',
    owner: { type: 'human', id: 'urn:test:human:olga' },
    status: 'active',
    protocolVersions: ['0.1'],
    endpoints: [{ transport: 'wss', uri: 'wss://agents.example/ws' }],
    publicKeys: [{ keyId, algorithm: 'Ed25519', publicKey, validFrom: '2026-01-01T00:00:00Z' }],
    capabilities: [
      {
        id: 'software.coding',
        version: '1.2.0',
        inputSchema: 'https://schemas.example/in',
        inputSchemaHash: HASH,
        outputSchema: 'https://schemas.example/out',
        outputSchemaHash: HASH,
        constraints: {},
        verifiedEvidence: ['urn:test:evidence:1'],
      },
    ],
    maxConcurrency: 4,
    ...more,
  };
}
