// Bytes that must be refused: the service and the official codec are asked about the same ones, and name the same code.
import type { Actor } from './actor.ts';
import { newId, now } from './drafts.ts';
import type { Group } from './group.ts';
import { declare } from './missions.ts';
import { checkEmbedded } from './refused-documents.ts';
import { officialVerdict, type JsonObject, type OfficialSdk } from './sdk.ts';
import { BASE } from './stage.ts';
import { codeOf } from './traffic.ts';

const SIGNATURE = 'AUTH_INVALID_SIGNATURE';
const PROTOCOL = 'PROTOCOL_VIOLATION';
const SCHEMA = 'SCHEMA_VALIDATION_FAILED';
/** Order of the base point of Ed25519. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

/** `official`: where the official codec has another name for it than the error table. */
type Case = readonly [claim: string, code: string, bytes: Uint8Array | string, official?: string];

export async function checkRefusals(group: Group): Promise<void> {
  const { stage, cast } = group;
  const { sdk, checks } = stage;
  await declare(group);
  const genuine = messageBy(group, cast.cora);
  const text = sdk.canonicalizeJson(genuine);
  for (const [claim, code, bytes, theirs = code] of [
    ...spellings(text),
    ...signatures(sdk, genuine, group),
    ...times(sdk, genuine, group),
  ]) {
    const body = typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes;
    const service = codeOf(await group.send(cast.cora, body));
    const official = officialVerdict(sdk, 'command', body, stage.registry);
    const expected = { service: code, official: theirs };
    checks.equal(`a Command with ${claim}: ${code}`, { service, official }, expected);
  }
  await checkEmbedded(group);
  const head = await stage.traffic.must({
    path: `${BASE}/groups/${encodeURIComponent(group.groupId)}`,
    token: cast.olga.token,
  });
  checks.equal('none of them left an Event', head['headSequence'], group.accepted.length);
  const control = codeOf(await group.send(cast.cora, Buffer.from(text, 'utf8')));
  checks.equal('the Command that they were made of is accepted', control, 'accepted');
}

/** `members` go into the envelope. */
export function messageBy(group: Group, actor: Actor, members: JsonObject = {}): JsonObject {
  const { conversationId } = group;
  const content = [{ type: 'text', text: 'Hello' }];
  return group.build(actor, 'message.post', { messageId: newId(), conversationId, content }, members);
}

/** Of the text, whatever its signature. */
function spellings(text: string): Case[] {
  const hello = '"text":"Hello"';
  return [
    ['an altered payload', SIGNATURE, text.replace('Hello', 'Hallo')],
    ['an altered envelope', SIGNATURE, text.replace(/"correlationId":"[^"]*"/, `"correlationId":"${newId()}"`)],
    ['a member twice', PROTOCOL, text.replace('"kind":', '"kind":"mission.cancel","kind":')],
    ['a member twice, once escaped', PROTOCOL, text.replace('"kind":', '"k\\u0069nd":"message.post","kind":')],
    ['a member twice, deep inside', PROTOCOL, text.replace(hello, `${hello},${hello}`)],
    ['a byte order mark', PROTOCOL, `\uFEFF${text}`],
    ['something after it', PROTOCOL, `${text} {}`],
    ['bytes that are not UTF-8', PROTOCOL, Buffer.from(text.replace('Hello', 'Hell\u00f6'), 'latin1')],
    ['a number beyond binary64', PROTOCOL, text.replace(hello, '"text":"Hello","n":1e400')],
    ['a lone surrogate', PROTOCOL, text.replace('Hello', 'Hello \\ud800')],
    ['an unknown member', SCHEMA, text.replace('"kind":', '"extra":1,"kind":')],
    ['a member missing', SCHEMA, text.replace(/"correlationId":"[^"]*",/, '')],
    [
      'another protocol version',
      'UNSUPPORTED_VERSION',
      text.replace('"protocolVersion":"0.1"', '"protocolVersion":"0.2"'),
      SCHEMA, // it looks at the version as at any other constant of the schema
    ],
    ['an array in its place', SCHEMA, '[]'],
  ];
}

/** Correctly formed, wrongly signed. */
function signatures(sdk: OfficialSdk, genuine: JsonObject, { cast }: Group): Case[] {
  const { cora, ada } = cast;
  const { signature, ...unsigned } = genuine as { signature: { value: string } };
  const bytes = sdk.decodeBase64Url(signature.value);
  const signed = (value: string) => sdk.canonicalizeJson({ ...unsigned, signature: { ...signature, value } });
  const forged = (keyId: string, signer: Actor) =>
    sdk.canonicalizeJson(sdk.codec.sign('command', unsigned, { algorithm: 'Ed25519', keyId, sign: signer.key.sign }));
  return [
    ["another one's key under the right key id", SIGNATURE, forged(cora.key.keyId, ada)],
    ["another one's key and key id", SIGNATURE, forged(ada.key.keyId, ada)],
    ['an unknown key id', SIGNATURE, forged(`${cora.key.keyId}/unknown`, cora)],
    [
      'one signature bit turned',
      SIGNATURE,
      signed(sdk.encodeBase64Url(bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte)))),
    ],
    ['S raised by the group order', SIGNATURE, signed(sdk.encodeBase64Url(raised(bytes)))],
    [
      'spare bits in the base64url',
      SIGNATURE,
      signed(signature.value.slice(0, -1) + spareBits(signature.value.slice(-1))),
    ],
  ];
}

/** The equation still holds; only strict verifiers refuse it. */
function raised(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + L;
  const digits = s.toString(16).padStart(64, '0');
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(digits, 'hex').reverse()]);
}

/** 64 bytes end in a character whose lower four bits mean nothing. */
function spareBits(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(character) + 1] ?? '';
}

/** Signed as they stand, with times that the protocol does not take. */
function times(sdk: OfficialSdk, genuine: JsonObject, { cast }: Group): Case[] {
  const { key } = cast.cora;
  const time = now();
  const at = (issuedAt: string, createdAt = issuedAt): string => {
    const { signature: _signature, ...rest } = genuine;
    const unsigned = { ...rest, issuedAt };
    const value = sdk.encodeBase64Url(key.sign(Buffer.from(sdk.canonicalizeJson(unsigned), 'utf8')));
    return sdk.canonicalizeJson({
      ...unsigned,
      signature: { algorithm: 'Ed25519', keyId: key.keyId, createdAt, value },
    });
  };
  return [
    ['createdAt spelled otherwise than issuedAt', SIGNATURE, at(time, time.replace('Z', '0Z'))],
    ['a lower-case z', SIGNATURE, at(time.replace('Z', 'z'))],
    ['a numeric offset', SIGNATURE, at(time.replace('Z', '+00:00'))],
    ['an unknown offset', SCHEMA, at(time.replace('Z', '-00:00'))],
    ['a leap second', SCHEMA, at(time.replace(/:\d\d\.\d+Z/, ':60Z'))],
    ['the year 0000', SCHEMA, at(time.replace(/^\d{4}/, '0000'))],
    ['a blank instead of the T', SCHEMA, at(time.replace('T', ' '))],
  ];
}
