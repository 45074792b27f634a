// What each route of the operator's API promises: the table that the routes are declared with.
import { DEFAULT_POLICY } from '../../domain/policy.ts';
import type { z } from 'zod';
import { OPERATOR_BODY_MAXIMUM } from '../bodies.ts';
import { EXAMPLE_COMMAND, EXAMPLE_PUBLIC_KEY } from '../openapi/example-command.ts';
import type { Answer, JsonBody, Operation, Refused } from '../openapi/operation.ts';
import { PAGE_PARAMETERS } from '../parameters.ts';
import * as answers from './answers.ts';
import * as bodies from './bodies.ts';
import { policyShape } from './policy-shape.ts';

const NO_SUCH: Refused = { code: 'INVALID_COMMAND', status: 404 };
const OLGA = { type: 'human', id: 'urn:example:human:olga' } as const;
/** Of RFC 8032, section 7.1, TEST 2; the Agent of the examples has the one that signed the example of a Command. */
const KEY = { keyId: 'urn:example:key:olga:1', publicKey: 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw' };

type Rest = Pick<Operation, 'id' | 'summary'> & Partial<Pick<Operation, 'description' | 'query' | 'refusals'>>;

function operation(rest: Rest, answered: Record<number, Answer>): Operation {
  return { tag: 'Operator', access: 'operator', answers: answered, ...rest };
}

function writing(rest: Rest, body: Pick<JsonBody, 'schema' | 'example'>, answered: Operation['answers']) {
  const whole = { description: 'A JSON object.', bytesMaximum: OPERATOR_BODY_MAXIMUM, ...body };
  return { ...operation(rest, answered), body: whole };
}

const says = (description: string, schema: z.ZodType): Answer => ({ description, schema });

export const OPERATIONS = {
  createOrganization: writing(
    {
      id: 'createOrganization',
      summary: 'Make an Organization',
      description: 'It gets three services of its own, with fresh keys that only this service holds.',
      refusals: ['INVALID_STATE_TRANSITION'],
    },
    { schema: bodies.organizationBody, example: { slug: 'acme', displayName: 'Acme Inc.' } },
    { 201: says('The new Organization.', answers.organizationAnswer) },
  ),
  listOrganizations: operation(
    { id: 'listOrganizations', summary: 'Organizations, by slug', query: PAGE_PARAMETERS },
    { 200: says('A page of Organizations.', answers.organizationPage) },
  ),
  registerPrincipal: writing(
    {
      id: 'registerPrincipal',
      summary: 'Register a human or a service with its keys',
      description: 'Saying the same again is no error. Agents come with their Card (`registerAgent`).',
      refusals: [NO_SUCH, 'INVALID_COMMAND', 'INVALID_STATE_TRANSITION'],
    },
    { schema: bodies.principalBody, example: { principal: OLGA, displayName: 'Olga', keys: [KEY] } },
    { 201: says('The principal and its keys.', answers.principalAnswer) },
  ),
  listPrincipals: operation(
    { id: 'listPrincipals', summary: 'Principals', query: PAGE_PARAMETERS, refusals: [NO_SUCH] },
    { 200: says('A page of principals.', answers.principalPage) },
  ),
  addKey: writing(
    {
      id: 'addKey',
      summary: 'A further key of a known principal',
      refusals: [NO_SUCH, 'INVALID_COMMAND', 'INVALID_STATE_TRANSITION'],
    },
    { schema: bodies.keyBody, example: { principal: OLGA, ...KEY } },
    { 201: says('The key.', answers.keyAnswer) },
  ),
  endKey: writing(
    {
      id: 'endKey',
      summary: 'End a key, or move its end forward',
      description: 'Its sessions and tokens end within seconds. An end can be moved earlier, never later.',
      refusals: [NO_SUCH, 'INVALID_COMMAND', 'INVALID_STATE_TRANSITION'],
    },
    { schema: bodies.endBody, example: { revokedAt: '2026-11-29T12:00:00Z' } },
    { 200: says('The key and its end.', answers.keyEndAnswer) },
  ),
  rotateServiceKey: operation(
    {
      id: 'rotateServiceKey',
      summary: "Replace the key of one of the Organization's own services",
      description:
        'Counts ten seconds later, when the old key ends. What was signed before keeps verifying. `service` is `authority`, `identity` or `registrar`.',
      refusals: [NO_SUCH, 'INVALID_COMMAND', 'INVALID_STATE_TRANSITION'],
    },
    { 201: says('The new key and which it replaces.', answers.rotationAnswer) },
  ),
  registerAgent: writing(
    {
      id: 'registerAgent',
      summary: 'Register an Agent by its Card',
      description: 'The service signs the Card and registers the Agent and the keys that the Card names.',
      refusals: [
        NO_SUCH,
        'INVALID_COMMAND',
        'INVALID_STATE_TRANSITION',
        'REVISION_CONFLICT',
        'AUTH_FORBIDDEN',
        'AUTH_INVALID_SIGNATURE',
      ],
    },
    { schema: bodies.agentBody, example: { card: exampleCard() } },
    { 201: says('The signed Card and the receipt of its registration.', answers.cardAnswer) },
  ),
  readPolicy: operation(
    { id: 'readPolicy', summary: 'The policy of the Organization', refusals: [NO_SUCH] },
    { 200: says('The policy.', policyShape) },
  ),
  replacePolicy: writing(
    {
      id: 'replacePolicy',
      summary: 'Replace the policy',
      description:
        'The whole of it; `version` is the one that it replaces. `auditors` are those who read what was refused. The two services that open sessions and register Cards keep their kinds.',
      refusals: [NO_SUCH, 'INVALID_COMMAND', 'REVISION_CONFLICT'],
    },
    { schema: policyShape, example: DEFAULT_POLICY },
    { 200: says('The policy with its new version.', policyShape) },
  ),
} as const;

function exampleCard() {
  const hash = `sha256:${'0'.repeat(64)}`;
  return {
    agentId: EXAMPLE_COMMAND.actor.id,
    cardVersion: 1,
    displayName: 'Ada',
    owner: OLGA,
    status: 'active',
    protocolVersions: ['0.1'],
    endpoints: [{ transport: 'wss', uri: 'wss://agents.example/ada' }],
    publicKeys: [
      {
        keyId: EXAMPLE_COMMAND.signature.keyId,
        publicKey: EXAMPLE_PUBLIC_KEY,
        algorithm: 'Ed25519',
        validFrom: '2026-01-01T00:00:00Z',
      },
    ],
    capabilities: [
      {
        id: 'software.coding',
        version: '1.0.0',
        inputSchema: 'https://schemas.example/in',
        inputSchemaHash: hash,
        outputSchema: 'https://schemas.example/out',
        outputSchemaHash: hash,
        constraints: {},
        verifiedEvidence: ['urn:example:evidence:1'],
      },
    ],
    maxConcurrency: 4,
  };
}
