// Commands, kind by kind: the envelope of the protocol with the payload that the kind's own file validates. The payloads
// that a Command carries signed documents in refer to them by name where the kind's file leaves them open.
import { commandKindOf, executedCommandKinds } from '../../domain/commands/catalogue.ts';
import { envelopeRule } from '../../protocol/documents/command.ts';
import type { CommandKind } from '../../protocol/kinds.ts';
import type { PrincipalType } from '../../protocol/principals.ts';
import { component, refTo } from './components.ts';
import type { JsonSchema } from './operation.ts';

for (const kind of executedCommandKinds()) {
  const { payload } = commandKindOf(kind) as NonNullable<ReturnType<typeof commandKindOf>>;
  component(payloadName(kind), payload);
}

function payloadName(kind: string): string {
  return `${kind}Payload`;
}

/** One schema a kind, under the kind's own name. */
export function commandComponents(): Record<string, JsonSchema> {
  return Object.fromEntries(executedCommandKinds().map((kind) => [kind, ofKind(kind)]));
}

function ofKind(kind: string): JsonSchema {
  const senders = sendersOf(kind);
  return {
    title: kind,
    description: `The Command \`${kind}\`, sent by ${senders.map(({ type }) => TYPES[type]).join(' or ')}.`,
    allOf: [
      refTo('Command'),
      {
        type: 'object',
        required: ['kind', 'payload'],
        properties: { kind: { const: kind }, payload: refTo(payloadName(kind)) },
      },
      senders.length === 1 ? senders[0]?.schema : { oneOf: senders.map(({ schema }) => schema) },
    ],
  };
}

const TYPES: Readonly<Record<PrincipalType, string>> = {
  agent: 'an Agent',
  human: 'a human',
  service: 'a service',
};

/** Who may send it, and which members of the envelope each of them must and must not carry. */
function sendersOf(kind: string): { type: PrincipalType; schema: JsonSchema }[] {
  const types = commandKindOf(kind)?.actors ?? [];
  return types
    .map((type) => ({ type, rule: envelopeRule(kind as CommandKind, type) }))
    .filter(({ type, rule }) => rule.actors.includes(type))
    .map(({ type, rule: { required, forbidden } }) => ({
      type,
      schema: {
        title: TYPES[type],
        required: [...required],
        properties: {
          actor: { properties: { type: { const: type } } },
          ...Object.fromEntries([...forbidden].map((member) => [member, false])),
        },
      },
    }));
}

/** Members of payloads that hold a whole document of the protocol; the kind's file checks it after its signature. */
const DOCUMENT_OF_MEMBER: Readonly<Record<string, string>> = {
  approval: 'Approval',
  artifact: 'Artifact',
  card: 'AgentCard',
  contextPackage: 'ContextPackage',
  contract: 'WorkContract',
  evidence: 'Evidence',
};

/** Where the payload leaves such a member open, the document is named. */
export function withDocuments(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, name.endsWith('Payload') ? withMembers(schema) : schema]),
  );
}

function withMembers(schema: JsonSchema): JsonSchema {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const named = properties.map(([member, open]) => {
    const document = DOCUMENT_OF_MEMBER[member];
    return [member, document === undefined ? open : inPlaceOfOpen(open, refTo(document))];
  });
  return { ...schema, properties: Object.fromEntries(named) as JsonSchema };
}

function inPlaceOfOpen(open: JsonSchema, document: JsonSchema): JsonSchema {
  const { type, items } = open;
  if (type === 'object') return document;
  if (type === 'array') return { ...open, items: inPlaceOfOpen(items as JsonSchema, document) };
  return Array.isArray(type) && type.includes('null') ? { anyOf: [document, { type: 'null' }] } : open;
}

/** What POST /commands takes: one of the kinds that are executed here. */
export function commandBody(): JsonSchema {
  const kinds = executedCommandKinds().sort();
  return {
    oneOf: kinds.map(refTo),
    discriminator: {
      propertyName: 'kind',
      mapping: Object.fromEntries(kinds.map((kind) => [kind, refTo(kind).$ref])),
    },
  };
}
