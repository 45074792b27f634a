// A real signed Command for readers to check their signing with: the key is the one of RFC 8032 section 7.1, TEST 1, which
// everybody knows, and so must never be registered anywhere.
import { signDocument, signerFromSeed } from '../../trust/signing.ts';

const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
export const EXAMPLE_PUBLIC_KEY = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';

export const EXAMPLE_COMMAND = signDocument(
  'command',
  {
    protocolVersion: '0.1',
    actionId: 'urn:uuid:5f1d3c1e-6a0b-4c0e-9a52-0d6f0d3f7a10',
    actor: { type: 'agent', id: 'urn:example:agent:ada' },
    sessionEpoch: 1,
    membershipEpoch: 1,
    groupId: 'urn:uuid:0b8a7a2e-0f7e-4a6d-8a3c-1f6f4a3f2b11',
    kind: 'message.post',
    correlationId: 'urn:uuid:5f1d3c1e-6a0b-4c0e-9a52-0d6f0d3f7a10',
    issuedAt: '2026-11-29T12:00:00.000Z',
    payload: {
      messageId: 'urn:uuid:9a4f0c55-2f0e-4b79-9d7b-7f0a5e1c3d12',
      conversationId: 'urn:uuid:7c6e1a90-95a4-4c6f-8a58-4f1d2e3c4b13',
      content: [{ type: 'text', text: 'Plan: first the code, then the tests.' }],
    },
  },
  signerFromSeed('urn:example:key:ada:1', Buffer.from(SEED, 'hex')),
).document;
