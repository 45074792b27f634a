// Every "no" of an operation, by status: what it declares itself, and what follows from who may ask and with what.
import { errorSchema } from '../../protocol/documents/error.ts';
import { refuse, type ErrorCode } from '../../protocol/refusals.ts';
import { ADVICE_OF_CODE } from '../advice.ts';
import { errorDocument } from '../errors.ts';
import { STATUS_OF_CODE } from '../statuses.ts';
import { refOf } from './components.ts';
import { COMMON_HEADERS, type HeaderName, type JsonSchema, type Operation, type Refused } from './operation.ts';

/** Of a faulty service and of a database that is gone. */
const FAULTS: readonly Refused[] = [{ code: 'INTERNAL_ERROR', status: 500 }, 'INTERNAL_ERROR'];
const OF_BODIES: readonly Refused[] = [
  'PROTOCOL_VIOLATION',
  { code: 'PROTOCOL_VIOLATION', status: 413 },
  { code: 'PROTOCOL_VIOLATION', status: 415 },
];

/** Codes by status, in the order of the statuses. */
export function refusalsOf(operation: Operation): ReadonlyMap<number, readonly ErrorCode[]> {
  const { access, query, body, refusals = [] } = operation;
  const all: Refused[] = [
    ...refusals,
    ...(access === 'public' ? [] : (['AUTH_REQUIRED', 'RATE_LIMITED'] as const)),
    ...(access === 'operator' ? [{ code: 'PROTOCOL_VIOLATION', status: 404 } as const] : []),
    ...(query ? (['SCHEMA_VALIDATION_FAILED'] as const) : []),
    ...(body ? OF_BODIES : []),
    ...(body && 'schema' in body ? (['SCHEMA_VALIDATION_FAILED'] as const) : []),
    ...(operation.faultless ? [] : FAULTS),
  ];
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const refused of all) {
    const { code, status } =
      typeof refused === 'string' ? { code: refused, status: STATUS_OF_CODE[refused] as number } : refused;
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b).map(([status, codes]) => [status, [...codes].sort()]));
}

const SENTENCES: Readonly<Record<number, string>> = {
  413: 'The body is larger than the largest that is read.',
  415: 'The body is not of the type that is read here, which `Accept` names, or it is encoded.',
  500: 'The service failed.',
  503: 'The service cannot answer now.',
};

/** The error document of the protocol, with the codes that this status can have. */
export function refusalAnswer(status: number, codes: readonly ErrorCode[]): JsonSchema {
  const lines = codes.map((code) => `* \`${code}\`: ${ADVICE_OF_CODE[code].meaning} ${ADVICE_OF_CODE[code].todo}`);
  return {
    description: [...(SENTENCES[status] ? [SENTENCES[status]] : []), lines.join('\n')].join('\n\n'),
    headers: Object.fromEntries(headersOf(status).map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: {
      'application/json': {
        schema: { allOf: [refOf(errorSchema), { properties: { code: { enum: codes } } }] },
        example: exampleOf(codes[0] as ErrorCode),
      },
    },
  };
}

function exampleOf(code: ErrorCode) {
  return errorDocument(refuse(code, ADVICE_OF_CODE[code].meaning), { occurredAt: '2026-11-29T12:00:00.000Z' });
}

function headersOf(status: number): readonly HeaderName[] {
  if (status === 401) return [...COMMON_HEADERS, 'WWW-Authenticate'];
  return status === 429 || status >= 500 ? [...COMMON_HEADERS, 'Retry-After'] : COMMON_HEADERS;
}
