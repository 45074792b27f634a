// A further key of an actor, registered and revoked over the operator API: the service and the official codec, which is told
// the same history, take it before and refuse it after.
import { Actor } from './actor.ts';
import { now } from './drafts.ts';
import type { Group } from './group.ts';
import { messageBy } from './refusals.ts';
import { officialVerdict, type JsonObject, type KeyRegistrySnapshot } from './sdk.ts';
import { OPERATOR, SLUG } from './stage.ts';
import { codeOf } from './traffic.ts';

export async function checkEndedKey(group: Group): Promise<void> {
  const { stage, cast } = group;
  const { sdk, checks, traffic, operatorToken: token } = stage;
  const { olga } = cast;
  const keyId = `${olga.principal.id}/keys/2`;
  const pair = new Actor(sdk, 'human', 'spare');
  const key = { keyId, publicKey: pair.publicKey, validFrom: now() };
  const path = `${OPERATOR}/organizations/${SLUG}/keys`;
  await traffic.must({ path, token, body: { principal: olga.principal, ...key } });

  const ask = async (validityHistory: readonly JsonObject[]) => {
    const { signature: _signature, ...unsigned } = messageBy(group, olga);
    const command = sdk.codec.sign('command', unsigned, { algorithm: 'Ed25519', keyId, sign: pair.key.sign });
    const bytes = Buffer.from(sdk.canonicalizeJson(command), 'utf8');
    const binding = { ...key, principal: olga.principal, algorithm: 'Ed25519' as const, validityHistory };
    const registry: KeyRegistrySnapshot = { ...stage.registry, bindings: [...stage.registry.bindings, binding] };
    const official = officialVerdict(sdk, 'command', bytes, registry);
    return { service: codeOf(await group.send(olga, bytes)), official };
  };
  const before = await ask([]);
  checks.equal('a Command under a second key: accepted by both', before, { service: 'accepted', official: 'accepted' });
  const revokedAt = now();
  await traffic.must({ path: `${path}/${encodeURIComponent(keyId)}/end`, token, body: { revokedAt } });
  const code = 'AUTH_INVALID_SIGNATURE';
  const after = await ask([{ sequence: 1, recordedAt: revokedAt, revokedAt }]);
  checks.equal(`a Command under the revoked key: ${code} by both`, after, { service: code, official: code });
}
