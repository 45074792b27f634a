// The OpenAPI document of the routes that are really there. Made once, at start; it knows no tenant.
import { commandSchema } from '../../protocol/documents/command.ts';
import { DESCRIPTION, VERSION } from '../../platform/package.ts';
import { BYTES } from '../bodies.ts';
import { commandBody, commandComponents, withDocuments } from './commands.ts';
import { componentSchemas, reachable, refOf } from './components.ts';
import {
  COMMON_HEADERS,
  HEADERS,
  TAGS,
  type Answer,
  type Body,
  type BytesBody,
  type JsonBody,
  type JsonSchema,
  type Operation,
  type QueryParameter,
} from './operation.ts';
import { INTRODUCTION } from './introduction.ts';
import { pathParameter } from './parameters.ts';
import { refusalAnswer, refusalsOf } from './refusals.ts';
import { parameterNames, type DeclaredRoute } from './route-table.ts';

export type OpenapiDocument = JsonSchema & { paths: Record<string, Record<string, OperationObject>> };

export interface OperationObject {
  operationId: string;
  parameters?: JsonSchema[];
  requestBody?: { content: Record<string, { schema?: JsonSchema; example?: unknown }> };
  responses: Record<string, JsonSchema>;
}

export function openapiDocument(routes: readonly DeclaredRoute[]): OpenapiDocument {
  const paths: OpenapiDocument['paths'] = {};
  for (const { path, method, operation } of routes) {
    paths[path] = { ...paths[path], [method]: operationObject(path, operation) };
  }
  const schemas = reachable(paths, { ...withDocuments(componentSchemas()), ...commandComponents() });
  return {
    openapi: '3.1.1',
    info: {
      title: 'Group Authority',
      version: VERSION,
      summary: DESCRIPTION,
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'Where this document was read.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      headers: HEADERS,
      securitySchemes: {
        tenantToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'From `POST /v1/orgs/{slug}/auth/token`. It lives 15 minutes and speaks for one principal.',
        },
        operatorToken: {
          type: 'http',
          scheme: 'bearer',
          description: '`MWP_OPERATOR_TOKEN` of the service. Without that setting the operator API is not there.',
        },
      },
    },
  };
}

const SECURITY = { public: [], tenant: [{ tenantToken: [] }], operator: [{ operatorToken: [] }] } as const;

function operationObject(path: string, operation: Operation): OperationObject {
  const { id, tag, summary, description, access, query = [], body, answers } = operation;
  const parameters = [...parameterNames(path).map(pathParameter), ...query.map(queryParameter)];
  const responses = Object.entries(answers).map(([status, answer]) => [status, answerObject(answer)] as const);
  const refusals = [...refusalsOf(operation)].map(([status, codes]) => [status, refusalAnswer(status, codes)] as const);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[access],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: bodyObject(body) }),
    responses: Object.fromEntries([...responses, ...refusals]),
  } as OperationObject;
}

function queryParameter({ name, description, schema, isList }: QueryParameter): JsonSchema {
  return { name, in: 'query', description, schema, ...(isList && { style: 'form', explode: false }) };
}

function bodyObject(body: Body) {
  return 'schema' in body ? jsonBodyObject(body) : bytesBodyObject(body);
}

/** Of bytes no schema says anything. */
const ANYTHING: JsonSchema = {};

function bytesBodyObject({ description, contentType, bytesMaximum }: BytesBody) {
  return {
    description: `${description} At most ${bytesMaximum.toLocaleString('en')} bytes.`,
    required: true,
    content: { [contentType]: { schema: ANYTHING } },
  };
}

function jsonBodyObject({ description, schema, bytesMaximum, example }: JsonBody) {
  const isCommand = schema === commandSchema;
  return {
    description: `${description} At most ${bytesMaximum.toLocaleString('en')} bytes, strict JSON in UTF-8: no member name twice, nothing behind it.`,
    required: true,
    content: { 'application/json': { schema: isCommand ? commandBody() : refOf(schema), example } },
  };
}

function answerObject({ description, schema, contentTypes = [], headers = [] }: Answer): JsonSchema {
  const names = [...COMMON_HEADERS, ...headers];
  const content = [
    ...(schema ? [['application/json', { schema: refOf(schema) }]] : []),
    ...contentTypes.map((contentType) => [
      contentType,
      { schema: contentType === BYTES ? ANYTHING : { type: 'string' } },
    ]),
  ] as [string, unknown][];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
  };
}
