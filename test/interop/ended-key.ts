// A further key of an actor, registered and revoked over the operator API: the service and the official codec, which is told
// the same history, take it before and refuse it after.
import { now } from './drafts.ts';
import type { Group } from './group.ts';
import { messageBy } from './refusals.ts';
import { officialVerdict } from './sdk.ts';
import { OPERATOR, SLUG } from './stage.ts';
import { codeOf } from './traffic.ts';

export async function checkEndedKey(group: Group): Promise<void> {
  const { stage, cast } = group;
  const { sdk, checks, traffic, keys, registry, operatorToken: token } = stage;
  const { olga } = cast;
  const pair = olga.newPair();
  const { keyId } = pair.key;
  const validFrom = now();
  const path = `${OPERATOR}/organizations/${SLUG}/keys`;
  const { principal } = olga;
  await traffic.must({ path, token, body: { principal, keyId, publicKey: pair.publicKey, validFrom } });
  keys.add(olga.binding(validFrom, pair));

  const ask = async () => {
    const command = olga.under(pair, () => messageBy(group, olga));
    const bytes = Buffer.from(sdk.canonicalizeJson(command), 'utf8');
    const official = officialVerdict(sdk, 'command', bytes, registry);
    return { service: codeOf(await group.send(olga, bytes)), official };
  };
  const before = await ask();
  checks.equal('a Command under a second key: accepted by both', before, { service: 'accepted', official: 'accepted' });
  const revokedAt = now();
  await traffic.must({ path: `${path}/${encodeURIComponent(keyId)}/end`, token, body: { revokedAt } });
  keys.end(keyId, { revokedAt });
  const code = 'AUTH_INVALID_SIGNATURE';
  checks.equal(`a Command under the revoked key: ${code} by both`, await ask(), { service: code, official: code });
}
