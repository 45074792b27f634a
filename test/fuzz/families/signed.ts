// Commands that are changed first and signed then, by a member with every right to send them: schema, domain and store see
// what is hostile. Some are accepted, rightly; then the state must still be what the Events say.
import { randomUUID } from 'node:crypto';
import type { ActorKey } from '../../../src/worker/keys.ts';
import { encodeBase64url } from '../../../src/wire/base64url.ts';
import { tryCanonicalText } from '../../../src/wire/canonical.ts';
import { jsonHeaders, type HttpCase, type World } from '../cases.ts';
import { hostileValue } from '../hostile-values.ts';
import { mutatedValue, respelled } from '../mutations.ts';
import type { Random } from '../random.ts';
import type { Plan } from '../scene.ts';

type Json = Record<string, unknown>;

/** Where documents stand in payloads, and which member is their protected time. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  artifact: 'createdAt',
  approval: 'occurredAt',
  contextPackage: 'generatedAt',
  card: 'issuedAt',
  evidence: 'createdAt',
};

export function signedCommand(random: Random, { busy, busyScene }: World): HttpCase {
  const plan = random.pick(busyScene.plans());
  const text = signedText(plan, random);
  const body = random.chance(0.1) ? respelled(text, random) : text;
  // A service with the right to relay brings some of them.
  const bearer = random.chance(0.2) ? busy.service : plan.actor;
  return {
    method: 'POST',
    target: `/v1/orgs/${busy.slug}/commands`,
    headers: jsonHeaders(busy.currentToken(bearer)),
    body: new Uint8Array(Buffer.from(body, 'utf8')),
  };
}

function signedText(plan: Plan, random: Random): string {
  const { actor, draft, epochs, documentsBy } = plan;
  // One of ten goes as it is, so that the scene moves on.
  const isPlain = random.chance(0.1);
  let payload: unknown = draft.payload;
  if (!isPlain && random.chance(0.75)) payload = mutatedValue(payload, random);
  if (documentsBy && !isPlain && random.chance(0.7)) payload = withSignedDocuments(payload, documentsBy);
  const actionId = `urn:uuid:${randomUUID()}`;
  const envelope: Json = {
    protocolVersion: '0.1',
    actionId,
    correlationId: actionId,
    actor: actor.principal,
    kind: draft.kind,
    ...epochs,
    ...(draft.groupId !== undefined && { groupId: draft.groupId }),
    issuedAt: new Date().toISOString(),
    payload,
  };
  const changed = isPlain || random.chance(0.75) ? envelope : withHostileEnvelope(envelope, random);
  return JSON.stringify(isJson(changed) ? signed(changed, 'issuedAt', actor) : changed) ?? 'null';
}

/** Members that are allowed and seldom used, and one that is changed. */
function withHostileEnvelope(envelope: Json, random: Random): unknown {
  const more = random.pick([
    'expectedRevision',
    'conversationId',
    'workItemId',
    'causedByEventId',
    'extensions',
    'none',
  ]);
  const added = more === 'none' ? envelope : { ...envelope, [more]: hostileValue(random) };
  return random.chance(0.5) ? added : mutatedValue(added, random, 1);
}

function withSignedDocuments(payload: unknown, key: ActorKey): unknown {
  if (!isJson(payload)) return payload;
  const resigned = { ...payload };
  for (const [member, time] of Object.entries(DOCUMENTS)) {
    const value = payload[member];
    if (isJson(value)) resigned[member] = signed(value, time, key);
    if (Array.isArray(value))
      resigned[member] = value.map((item: unknown) => (isJson(item) ? signed(item, time, key) : item));
  }
  return resigned;
}

/** What cannot be signed, because it has no canonical form, gets a signature over nothing. */
function signed(document: Json, timeMember: string, { keyId, signer }: ActorKey): Json {
  const { signature: _signature, ...rest } = document;
  const form = tryCanonicalText(rest);
  const value = encodeBase64url(signer.sign(Buffer.from(form.ok ? form.text : '', 'utf8')));
  return { ...rest, signature: { algorithm: 'Ed25519', keyId, createdAt: rest[timeMember], value } };
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
