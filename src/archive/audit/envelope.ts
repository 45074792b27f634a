// The sealed form of a Group's refusals: compressed lines under AES-256-GCM with a data key of their own, and that key wrapped
// under the tenant's. Organization, Group, count, range, last time, key and format are authenticated with both.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { AUDIT_MAXIMUM, type AuditRow } from '../../store/port.ts';
import type { SealedRange } from '../../store/port/sealed-audits.ts';
import { decodeBase64url, encodeBase64url } from '../../wire/base64url.ts';
import { canonicalBytes } from '../../wire/canonical.ts';
import { SealFault } from './ports.ts';

/** Raised when the form changes; older forms stay readable. */
export const SEAL_FORMAT = 1;
const CIPHER = 'aes-256-gcm';
export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Of one record: ids and hashes, a dozen of them, of at most 512 characters. */
const RECORD_BYTES_MAXIMUM = 8_192;

export type SealPlace = SealedRange & { organizationId: string };

export function sealRecords(
  rows: readonly AuditRow[],
  place: SealPlace,
  tenantKey: Uint8Array,
): { bytes: Uint8Array; wrappedKey: string } {
  const dataKey = randomBytes(KEY_BYTES);
  const lines = gzipSync(Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), 'utf8'));
  const bytes = encrypt(lines, dataKey, authenticated('records', place));
  const wrappedKey = encodeBase64url(encrypt(dataKey, tenantKey, authenticated('key', place)));
  dataKey.fill(0);
  return { bytes, wrappedKey };
}

/** Throws SealFault 'format' or 'altered', and then gives nothing. */
export function openRecords(
  bytes: Uint8Array,
  wrappedKey: string,
  place: SealPlace,
  tenantKey: Uint8Array,
): AuditRow[] {
  const { groupId, records, firstId, lastId, format } = place;
  if (format !== SEAL_FORMAT) throw new SealFault('format', groupId, `has the form ${format}, which is not known here`);
  try {
    const dataKey = decrypt(decodeBase64url(wrappedKey) ?? new Uint8Array(), tenantKey, authenticated('key', place));
    const lines = decrypt(bytes, dataKey, authenticated('records', place));
    const text = gunzipSync(lines, { maxOutputLength: AUDIT_MAXIMUM * RECORD_BYTES_MAXIMUM }).toString('utf8');
    const rows = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as AuditRow]));
    const isWhole = rows.length === records && rows[0]?.id === firstId && rows.at(-1)?.id === lastId;
    if (!isWhole || rows.some((row) => row.groupId !== groupId)) throw new Error('not the records that were named');
    return rows;
  } catch (cause) {
    throw new SealFault('altered', groupId, 'does not open: it was changed, or belongs elsewhere', { cause });
  }
}

/** Spelled out one by one, so that a member that is added to the row later does not change what is authenticated now. */
function authenticated(what: 'records' | 'key', place: SealPlace): Uint8Array {
  const { organizationId, groupId, records, firstId, lastId, lastRecordedAt, keyVersion, format } = place;
  return canonicalBytes([
    `mwp-authority sealed audit: ${what}`,
    { format, organizationId, groupId, records, firstId, lastId, lastRecordedAt, keyVersion },
  ]);
}

/** Initialisation vector, ciphertext, tag. Each key encrypts once, but for the tenant's, which wraps one key a Group. */
function encrypt(plain: Uint8Array, key: Uint8Array, authenticatedToo: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  cipher.setAAD(authenticatedToo);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(sealed: Uint8Array, key: Uint8Array, authenticatedToo: Uint8Array): Buffer {
  if (sealed.length < IV_BYTES + TAG_BYTES) throw new Error('too short');
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticatedToo);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}
