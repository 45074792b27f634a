// What Commands, Events and Cards prove around a rotation: each under the key that counted at its own time and under no
// other, by the official codec; and that an Agent's old key opens nothing after its end.
import type { KeyPair } from './actor.ts';
import type { Group } from './group.ts';
import { withEnd, withKey } from './key-ring.ts';
import { messageBy } from './refusals.ts';
import type { Replaced } from './rotation.ts';
import { officialVerdict, type JsonObject, type KeyRegistrySnapshot } from './sdk.ts';
import { tokenAnswer, type Stage } from './stage.ts';
import { codeOf } from './traffic.ts';

const SIGNATURE = 'AUTH_INVALID_SIGNATURE';

export function checkCommandKeys({ stage, accepted, cast }: Group, keys: { before: string; after: string }): void {
  const { sdk, checks, registry } = stage;
  const found = accepted
    .filter(({ actor }) => actor === cast.ada)
    .map(({ bytes }) => sdk.codec.verify('command', bytes, { resolve: () => registry }).resolvedKey.keyId);
  const { before, after } = keys;
  const expected = [before, before, after, after];
  checks.equal(
    "Ada's Commands of before and after her new key verify, each under the key of its time",
    found,
    expected,
  );
}

/** Signed after the end, before it, too early, and sent once more. */
export async function checkOldActorKey(group: Group, old: KeyPair, validUntil: string): Promise<void> {
  const { stage, cast } = group;
  const { sdk, checks, registry } = stage;
  const { ada } = cast;
  const ask = async (pair: KeyPair, issuedAt?: string) => {
    const command = ada.under(pair, () => messageBy(group, ada, issuedAt === undefined ? {} : { issuedAt }));
    const bytes = Buffer.from(sdk.canonicalizeJson(command), 'utf8');
    const official = officialVerdict(sdk, 'command', bytes, registry);
    return { service: codeOf(await group.send(ada, bytes)), official };
  };
  const both = { service: SIGNATURE, official: SIGNATURE };
  checks.equal('a Command signed with the old key after its end is refused by both', await ask(old), both);
  checks.equal('nor does it count at the very instant of its end, by both', await ask(old, validUntil), both);
  const early = new Date(Date.parse(validUntil) - 1).toISOString();
  checks.equal(
    'dated back before the end it verifies by the official codec, but the service admits nothing new under an ended key',
    await ask(old, early),
    { service: SIGNATURE, official: 'accepted' },
  );
  const binding = registry.bindings.find(({ keyId }) => keyId === ada.key.keyId);
  const tooEarly = new Date(Date.parse(binding?.validFrom ?? '') - 1).toISOString();
  checks.equal('a Command of before the new key counted is refused by both', await ask(ada.pair, tooEarly), both);
  await checkRetry(group, old);
  const refused = codeOf(await tokenAnswer(stage, ada, old));
  checks.equal('nobody logs in with the old key any more', refused, SIGNATURE);
}

async function checkRetry(group: Group, old: KeyPair): Promise<void> {
  const { checks, sdk } = group.stage;
  const { ada } = group.cast;
  const first = group.accepted.find(({ actor, document }) => actor === ada && keyIdOf(document) === old.key.keyId);
  if (first === undefined) throw new Error('Ada did nothing under her old key');
  const again = await group.send(ada, first.bytes);
  checks.equal(
    'what was accepted under the old key, sent again after its end, gets its first receipt',
    [codeOf(again), again.body['duplicate'], sdk.canonicalizeJson(again.body['receipt'])],
    ['accepted', true, sdk.canonicalizeJson(first.answer.body['receipt'])],
  );
}

export function checkEventKeys({ stage, accepted }: Group, { before, after, moment }: Replaced): void {
  const { sdk, checks, registry } = stage;
  const events = accepted.flatMap(({ answer }) => answer.body['events'] as readonly JsonObject[]);
  const bytesOf = (event: JsonObject) => Buffer.from(sdk.canonicalizeJson(event), 'utf8');
  const isEarlier = (event: JsonObject) => Date.parse(String(event['occurredAt'])) < Date.parse(moment);
  const earlier = events.filter(isEarlier);
  const later = events.filter((event) => !isEarlier(event));
  const groups = [
    [`${earlier.length} Events of before`, earlier, before],
    [`${later.length} Events of after`, later, after],
  ] as const;
  for (const [name, some, keyId] of groups) {
    const resolved = some.map(
      (event) => sdk.codec.verify('event', bytesOf(event), { resolve: () => registry }).resolvedKey.keyId,
    );
    const isProven = some.length > 0 && resolved.every((found) => found === keyId);
    const claim = `${name} the authority's rotation verify, under the key that counted then and no other`;
    checks.none(claim, isProven ? [] : [`expected ${keyId}, found ${resolved.join(', ') || 'none'}`]);
  }
  // Had the keys been replaced at another time, not one of them could be believed.
  const verdicts = (some: readonly JsonObject[], told: KeyRegistrySnapshot) =>
    new Set(some.map((event) => officialVerdict(sdk, 'event', bytesOf(event), told)));
  const [firstEvent] = earlier;
  const end = { recordedAt: moment, validUntil: String(firstEvent?.['occurredAt']) };
  const endedBefore = withKey(registry, before, (binding) => withEnd(binding, end));
  const begunLater = withKey(registry, after, (binding) => ({ ...binding, validFrom: '9999-01-01T00:00:00Z' }));
  checks.equal(
    'the codec takes no Event of a time at which its key did not count',
    [[...verdicts(earlier, endedBefore)], [...verdicts(later, begunLater)]],
    [[SIGNATURE], [SIGNATURE]],
  );
}

export function checkCardSigner({ sdk, checks, registry }: Stage, card: JsonObject, keyId: string): void {
  const bytes = Buffer.from(JSON.stringify(card), 'utf8');
  const { resolvedKey } = sdk.codec.verify('agent-card', bytes, { resolve: () => registry });
  const claim = `version ${String(card['cardVersion'])} of the Card verifies, under the registrar's key of its time`;
  checks.equal(claim, resolvedKey.keyId, keyId);
}

function keyIdOf({ signature }: JsonObject): string {
  return (signature as { keyId: string }).keyId;
}
