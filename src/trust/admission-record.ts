// Reads what the log answered as a record: strictly, by its schema, and never the document itself (MWP-ADM-009a, -011).

import { checkDocument } from '../protocol/documents/catalogue.ts';
import type { FirstAdmissionRecord } from '../protocol/documents/first-admission-record.ts';
import { isJsonObject } from '../protocol/documents/json-value.ts';
import { sha256Label, tryCanonicalText } from '../wire/canonical.ts';
import { parseStrictJson } from '../wire/strict-json.ts';
import type { LoggedRecord } from './admission-log.ts';
import type { Verified } from './verify.ts';

type RecordReading =
  | { readonly ok: true; readonly record: FirstAdmissionRecord }
  | { readonly ok: false; readonly reason: 'record-schema-invalid' | 'event-self-anchoring' };

export function readAdmissionRecord(verified: Verified, input: LoggedRecord['record']): RecordReading {
  let value: unknown;
  if ('bytes' in input) {
    const json = parseStrictJson(input.bytes);
    if (!json.ok || json.dataModelFault !== undefined) return { ok: false, reason: 'record-schema-invalid' };
    value = json.value;
  } else {
    value = input.value;
  }
  const check = checkDocument('first-admission-record', value);
  if (check.valid) return { ok: true, record: check.document };
  return { ok: false, reason: isTheEventItself(verified, value) ? 'event-self-anchoring' : 'record-schema-invalid' };
}

/** An Event anchors nothing, least of all itself. No Event fits the record's schema; this names the attempt. */
function isTheEventItself(verified: Verified, value: unknown): boolean {
  if (verified.kind !== 'event' || !isJsonObject(value)) return false;
  const { signature: _signature, ...rest } = value;
  const form = tryCanonicalText(rest);
  return form.ok && sha256Label(form.text) === verified.signingHash;
}
