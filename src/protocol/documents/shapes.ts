// The definitions that documents share (common.schema.json has no document of its own). Each is one check that hands
// the received value on untouched: no default, no coercion, no rewriting. Beside it stands what JSON Schema can say of it
// (`.meta`), for the description of the API; where the two differ, the check is the stricter one.

import { z } from 'zod';
import type { Principal } from '../principals.ts';
import { isTimestamp } from '../timestamps.ts';
import { EXTENSION_KIND_FORM, isExtensionKind } from '../kinds.ts';
import { codePointLength, hasOnlyUniqueItems, isJsonObject, type JsonObject } from './json-value.ts';
import { isUri } from './uri.ts';

const ID_MAX = 512;

type JsonSchema = Record<string, unknown>;

const string = (check: (text: string) => boolean, message: string, described: JsonSchema = {}) =>
  z
    .custom<string>((value) => typeof value === 'string' && check(value), message)
    .meta({ type: 'string', ...described });

/** Free text, measured in code points. */
export const text = (min: number, max: number) =>
  string(
    (value) => {
      if (value.length < min || value.length > 2 * max) return false;
      if (value.length <= max && min <= 1) return true;
      const length = codePointLength(value);
      return length >= min && length <= max;
    },
    `must be a text of ${min} to ${max} characters`,
    { ...(min > 0 && { minLength: min }), maxLength: max },
  );

/** A text of a fixed alphabet (ASCII, so units are code points). */
export const pattern = (expression: RegExp, max: number, message: string) =>
  string((value) => value.length <= max && expression.test(value), message, {
    pattern: expression.source,
    maxLength: max,
  });

export const uri = string(isUri, 'must be an absolute RFC 3986 URI', { format: 'uri' });
export const id = string(
  (value) => value.length <= ID_MAX && isUri(value),
  `must be an absolute RFC 3986 URI of at most ${ID_MAX} characters`,
  { format: 'uri', maxLength: ID_MAX },
);
export const timestamp = string(isTimestamp, 'must be an RFC 3339 time of the protocol profile', {
  format: 'date-time',
});

const integer = (minimum: 0 | 1) =>
  z
    .custom<number>(
      (value) => Number.isSafeInteger(value) && (value as number) >= minimum,
      `must be an integer from ${minimum} to ${Number.MAX_SAFE_INTEGER}`,
    )
    .meta({ type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER });
export const safeInteger = integer(0);
export const positiveInteger = integer(1);
/** A JSON number at or above zero. One beyond binary64 passes here: it is a fault of stage 5 (MWP-SDV-016). */
export const nonNegativeNumber = z
  .custom<number>((value) => typeof value === 'number' && value >= 0, 'must be a number of at least 0')
  .meta({ type: 'number', minimum: 0 });

export const protocolVersion = z.literal('0.1');
export const kind = pattern(/^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/, 160, 'must be a dotted kind');
export const extensionKind = z
  .custom<`ext.${string}`>((value) => typeof value === 'string' && isExtensionKind(value), 'must be an extension kind')
  .meta({ type: 'string', ...EXTENSION_KIND_FORM });
export const semver = pattern(
  /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/,
  128,
  'must be a semantic version',
);
/** The alphabet only. Spare bits and decoded length belong to stages 3 and 4. */
export const base64url = string(
  (value) => value.length >= 2 && value.length <= 4096 && /^[A-Za-z0-9_-]+$/.test(value),
  'must be unpadded base64url',
  { minLength: 2, maxLength: 4096, pattern: '^[A-Za-z0-9_-]+$' },
);
export const sha256 = pattern(/^sha256:[0-9a-f]{64}$/, 71, 'must be sha256: and 64 lower-case hex digits');
export const duration = pattern(
  /^P(?!$)(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?$/,
  64,
  'must be an ISO 8601 duration of days and less',
);
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+$/;
export const mediaType = string((value) => MEDIA_TYPE.test(value), 'must be a media type', {
  pattern: MEDIA_TYPE.source,
});
export const capabilityId = pattern(/^[a-z0-9]+(?:[.-][a-z0-9]+)+$/, 200, 'must be a capability id');
/** Ids inside one document: criteria and deliverables. */
export const localId = pattern(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$/, 128, 'must be a local id');
export const operation = (max: number) => pattern(/^[a-z][a-z0-9._:-]*$/, max, 'must be a lower-case operation name');
export const currency = pattern(/^[A-Z]{3}$/, 3, 'must be a currency code of three capitals');

/** Free JSON: any value that is present. */
export const anyJson = z
  .custom<unknown>((value) => value !== undefined, 'is required')
  .meta({ description: 'Any JSON value.' });
/** Free JSON object: `payload`, `details`, `constraints`. Handed on as the same reference. */
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be an object').meta({ type: 'object' });

export const array = <Item extends z.ZodType>(item: Item) => z.array(item);
export const atLeastOne = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .refine((items) => items.length > 0, 'must have at least one item')
    .meta({ minItems: 1 });
export const unique = <Item extends z.ZodType>(item: Item) =>
  z.array(item).refine(hasOnlyUniqueItems, 'must not repeat an item').meta({ uniqueItems: true });
export const uniqueAtLeastOne = <Item extends z.ZodType>(item: Item) =>
  atLeastOne(item).refine(hasOnlyUniqueItems, 'must not repeat an item').meta({ uniqueItems: true });

const actorOf = <Type extends Principal['type']>(type: z.ZodType<Type>) => z.strictObject({ type, id });
export const actor = actorOf(z.enum(['agent', 'human', 'service']));
export const agentActor = actorOf(z.literal('agent'));
export const humanActor = actorOf(z.literal('human'));
export const serviceActor = actorOf(z.literal('service'));

export const signature = z.strictObject({
  algorithm: z.literal('Ed25519'),
  keyId: id,
  createdAt: timestamp,
  value: base64url,
});
export type Signature = z.infer<typeof signature>;

export const publicKey = z.strictObject({
  keyId: id,
  algorithm: z.literal('Ed25519'),
  publicKey: base64url,
  validFrom: timestamp,
  validUntil: timestamp.optional(),
  revokedAt: timestamp.optional(),
});

export const capabilityRef = z.strictObject({ id: capabilityId, version: semver });
export type CapabilityRef = z.infer<typeof capabilityRef>;

const budgetMembers = z.strictObject({
  currency: currency.optional(),
  financialLimit: nonNegativeNumber.optional(),
  modelTokenLimit: safeInteger.optional(),
  toolCallLimit: safeInteger.optional(),
  computeSecondsLimit: safeInteger.optional(),
  wallClockSecondsLimit: safeInteger.optional(),
  externalSideEffectLimit: safeInteger.optional(),
});
const COUNTED_LIMITS = [
  'modelTokenLimit',
  'toolCallLimit',
  'computeSecondsLimit',
  'wallClockSecondsLimit',
  'externalSideEffectLimit',
] as const;
export const budget = budgetMembers.refine(
  (value) =>
    (value.financialLimit !== undefined && value.currency !== undefined) ||
    COUNTED_LIMITS.some((name) => value[name] !== undefined),
  'must have at least one limit; a financial limit needs its currency',
);
export const completeBudget = budgetMembers.required();
export type Budget = z.infer<typeof budget>;

export const EVIDENCE_TYPES = [
  'artifact_integrity',
  'schema_validation',
  'deterministic_test',
  'business_rule',
  'reviewer_assessment',
  'human_review',
  'policy_check',
] as const;

export const acceptanceCriterion = z.strictObject({
  criterionId: localId,
  description: text(1, 4000),
  evidenceRequired: uniqueAtLeastOne(z.enum(EVIDENCE_TYPES)),
});
export type AcceptanceCriterion = z.infer<typeof acceptanceCriterion>;

export const resourceGrant = z.strictObject({
  resource: id,
  operations: uniqueAtLeastOne(operation(128)),
  constraints: jsonObject.optional(),
});

export const classification = z.enum(['public', 'internal', 'confidential', 'restricted']);

const extension = z.strictObject({ version: semver, critical: z.boolean(), data: anyJson });
export type Extension = z.infer<typeof extension>;
/** Own check instead of z.record, which passes over a member named `__proto__` and rebuilds the object. */
export const extensions = z
  .custom<Record<string, Extension>>((value) => {
    if (!isJsonObject(value)) return false;
    return Object.keys(value).every((name) => id.safeParse(name).success && extension.safeParse(value[name]).success);
  }, 'must map extension URIs to version, critical and data')
  .meta({
    type: 'object',
    propertyNames: id.meta(),
    additionalProperties: {
      type: 'object',
      required: ['version', 'critical', 'data'],
      additionalProperties: false,
      properties: { version: semver.meta(), critical: { type: 'boolean' }, data: {} },
    },
  });
