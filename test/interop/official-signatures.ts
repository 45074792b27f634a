// What the official codec signs, before our src/trust: each of the nine kinds verifies with the same hash, and what must be
// refused is refused by both, at the same stage.
import { registrySnapshot, evidenceFromSnapshot } from '../../src/trust/registry-snapshot.ts';
import { verifyDocument } from '../../src/trust/verify.ts';
import { protectedTimeOf } from '../../src/trust/signed-kinds.ts';
import { Actor } from './actor.ts';
import { newId } from './drafts.ts';
import { draftOfEachKind, type Unsigned } from './each-kind.ts';
import { withEnd, withKey, type KeyEnd } from './key-ring.ts';
import type { JsonObject, KeyBinding, KeyRegistrySnapshot, SigningKey } from './sdk.ts';
import type { Stage } from './stage.ts';

const LONG_AGO = '2019-01-01T00:00:00Z';
const BEFORE_ALL = '2020-01-01T00:00:00Z';

/** `accepted` with what was verified, or the stage with the wire code. */
type Verdict = string | { readonly signingHash: string; readonly keyId: string; readonly principal: object };

export async function checkOfficialSignatures(stage: Stage): Promise<void> {
  const { sdk, checks, registry } = stage;
  const service = new Actor(sdk, 'service', 'theirs');
  const known = { ...registry, bindings: [...registry.bindings, service.binding(BEFORE_ALL)] };
  const drafts = draftOfEachKind(stage, service);
  checks.equal('there are nine kinds of Signed Document', drafts.length, 9);
  for (const draft of drafts) {
    const { kind, signer, document } = draft;
    const signed = signer.sign(kind, document);
    const { signingHash } = sdk.codec.verify(kind, bytesOf(stage, signed), { resolve: () => known });
    const { keyId } = signer.key;
    checks.equal(
      `${kind} signed by the official codec verifies in our src/trust, with the same hash, key and signer`,
      await ours(stage, draft, bytesOf(stage, signed), known),
      { signingHash, keyId, principal: signer.principal },
    );
    const faults: string[] = [];
    for (const [claim, wrong, keys, stageName] of wrongOnes(stage, draft, known)) {
      const bytes = bytesOf(stage, wrong);
      const expected = `${stageName} AUTH_INVALID_SIGNATURE`;
      const [us, them] = [await ours(stage, draft, bytes, keys), theirs(stage, draft, bytes, keys)];
      if (us !== expected) faults.push(`${claim}: ours says ${JSON.stringify(us)}, not ${expected}`);
      if (them !== expected) faults.push(`${claim}: the official codec says ${JSON.stringify(them)}, not ${expected}`);
    }
    checks.none(`${kind} altered, by another signer, under an unknown or ended key: refused by both`, faults);
  }
}

type Wrong = readonly [claim: string, document: JsonObject, keys: KeyRegistrySnapshot, stage: string];

function wrongOnes(stage: Stage, { kind, signer, document }: Unsigned, known: KeyRegistrySnapshot): Wrong[] {
  const { sdk, cast } = stage;
  const signed = signer.sign(kind, document);
  const { keyId } = signer.key;
  const stranger = signer === cast.ben ? cast.cora : cast.ben;
  const under = (key: Partial<SigningKey>) => sdk.codec.sign(kind, document, { ...signer.key, ...key });
  const time = protectedTimeOf(kind, document);
  const ended = (end: KeyEnd) =>
    withKey(known, keyId, (binding) =>
      withEnd({ ...binding, validFrom: LONG_AGO }, { recordedAt: BEFORE_ALL, ...end }),
    );
  return [
    ['another id in it', { ...signed, ...otherId(signed) }, known, 'signature'],
    ["another one's key under this key id", under({ sign: stranger.key.sign }), known, 'signature'],
    ["another one's key", stranger.sign(kind, document), known, 'key-resolution'],
    ['an unknown key id', under({ keyId: `${keyId}/unknown` }), known, 'key-resolution'],
    ['a key that ended at that time', signed, ended({ validUntil: time }), 'key-resolution'],
    ['a key that was revoked before', signed, ended({ revokedAt: BEFORE_ALL }), 'key-resolution'],
  ];
}

/** Every kind has a member that holds an id and plays no part in finding the key. */
function otherId(document: JsonObject): JsonObject {
  const members = ['actionId', 'eventId', 'snapshotId', 'profileUri', 'missionId', 'agentId'];
  const member = members.find((name) => name in document);
  if (member === undefined) throw new Error('a document without an id');
  return { [member]: newId() };
}

async function ours(stage: Stage, { kind }: Unsigned, bytes: Uint8Array, known: KeyRegistrySnapshot): Promise<Verdict> {
  const snapshot = registrySnapshot(known.organizationId, known.bindings.map(asOurs));
  const evidence = evidenceFromSnapshot(snapshot);
  const result = await verifyDocument(kind, { bytes }, stage.organizationId, evidence);
  if (!result.ok) return `${result.diagnostic.forAudit().stage} ${result.refusal.code}`;
  const { signingHash, keyId, principal } = result;
  return { signingHash, keyId, principal };
}

function asOurs({ validityHistory, ...binding }: KeyBinding) {
  return { ...binding, history: validityHistory };
}

function theirs({ sdk }: Stage, { kind }: Unsigned, bytes: Uint8Array, known: KeyRegistrySnapshot): Verdict {
  try {
    const { signingHash, resolvedKey } = sdk.codec.verify(kind, bytes, { resolve: () => known });
    return { signingHash, keyId: resolvedKey.keyId, principal: resolvedKey.principal };
  } catch (error) {
    const { wireCode, auditDetail } = error as { wireCode?: string; auditDetail?: { stage: string } };
    if (wireCode === undefined) throw error;
    return `${auditDetail?.stage ?? 'no stage'} ${wireCode}`;
  }
}

function bytesOf({ sdk }: Stage, document: JsonObject): Uint8Array {
  return Buffer.from(sdk.canonicalizeJson(document), 'utf8');
}
