// The last line of a bundle: what the authority says of everything before it, under its own key.
import { samePrincipal, type Principal } from '../protocol/principals.ts';
import { isTimestamp } from '../protocol/timestamps.ts';
import { importPublicKey, isScalarInRange, nativeVerify, SIGNATURE_BYTES } from '../trust/ed25519.ts';
import { keyStatusAt, type KeyBinding } from '../trust/evidence.ts';
import type { Signer } from '../trust/signing.ts';
import { decodeBase64url, encodeBase64url } from '../wire/base64url.ts';
import { canonicalBytes } from '../wire/canonical.ts';
import { STATEMENT_PURPOSE, type StatementLine } from './bundle-lines.ts';

type Stated = Omit<StatementLine, 'line' | 'purpose' | 'keyId' | 'signature'>;

export function signStatement(stated: Stated, signer: Signer): StatementLine {
  const unsigned = { line: 'statement' as const, purpose: STATEMENT_PURPOSE, ...stated, keyId: signer.keyId };
  return { ...unsigned, signature: encodeBase64url(signer.sign(canonicalBytes(unsigned))) };
}

/** What speaks against the signature, in words; undefined when it is the authority's. */
export async function statementFault(
  statement: StatementLine,
  binding: KeyBinding | undefined,
  authority: Principal,
): Promise<string | undefined> {
  const { signature: text, ...unsigned } = statement;
  if (statement.purpose !== STATEMENT_PURPOSE) return 'it is signed for another purpose';
  if (!binding) return `its key ${statement.keyId} is not in the bundle`;
  if (!samePrincipal(binding.principal, authority)) return 'it is signed with a key of somebody else';
  if (!isTimestamp(statement.exportedAt)) return 'its time is no time';
  const status = keyStatusAt(binding, statement.exportedAt);
  if (status !== 'valid') return `its key was ${status} when it was signed`;
  const key = importPublicKey(binding.publicKey);
  const signature = decodeBase64url(text);
  const isSound = signature?.length === SIGNATURE_BYTES && isScalarInRange(signature);
  if (!key.ok || !signature || !isSound) return 'its signature is malformed';
  return (await nativeVerify(key.key, signature, canonicalBytes(unsigned))) ? undefined : 'its signature is wrong';
}
