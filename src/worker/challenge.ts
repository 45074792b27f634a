// Answering the authority's challenge: the client signs the decoded bytes, but only after reading that they are about
// itself and this very attempt (design section 7, HELLO).

import { randomBytes } from 'node:crypto';
import { isJsonObject } from '../protocol/documents/json-value.ts';
import { decodeBase64url, encodeBase64url } from '../wire/base64url.ts';
import { canonicalText } from '../wire/canonical.ts';
import { parseStrictJson } from '../wire/strict-json.ts';
import type { ActorKey } from './keys.ts';

export function newClientNonce(): string {
  return encodeBase64url(randomBytes(32));
}

const TRANSCRIPT_MEMBERS = [
  'agentId',
  'challengeId',
  'clientNonce',
  'expiresAt',
  'keyId',
  'protocolVersion',
  'serverNonce',
] as const;

/** The signature, or undefined where the challenge is not the canonical transcript of this attempt. */
export function answerChallenge(key: ActorKey, clientNonce: string, challenge: string): string | undefined {
  const bytes = decodeBase64url(challenge);
  if (bytes === undefined) return undefined;
  const json = parseStrictJson(bytes);
  if (!json.ok || !isJsonObject(json.value)) return undefined;
  const transcript = json.value;
  if (Object.keys(transcript).sort().join() !== TRANSCRIPT_MEMBERS.join()) return undefined;
  if (canonicalText(transcript) !== Buffer.from(bytes).toString('utf8')) return undefined;
  const ours =
    transcript['agentId'] === key.principal.id &&
    transcript['keyId'] === key.keyId &&
    transcript['clientNonce'] === clientNonce &&
    transcript['protocolVersion'] === '0.1';
  return ours ? encodeBase64url(key.signer.sign(bytes)) : undefined;
}
