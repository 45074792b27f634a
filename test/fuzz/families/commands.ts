// Bytes of Commands that were accepted before, changed after they were signed: refused, most of them before any
// cryptography, or the same document in other bytes, which answers the receipt that there was.
import { json, jsonHeaders, type HttpCase, type World } from '../cases.ts';
import { hostileValue, rawJson } from '../hostile-values.ts';
import { mutatedBytes, mutatedValue, respelled } from '../mutations.ts';
import type { Random } from '../random.ts';

export function changedCommand(random: Random, { quiet }: World): HttpCase {
  const { bytes, actor } = random.pick(quiet.accepted);
  return {
    method: 'POST',
    target: `/v1/orgs/${quiet.slug}/commands`,
    headers: jsonHeaders(quiet.currentToken(actor)),
    body: changed(bytes, random, () => random.pick(quiet.accepted).bytes),
    expect: 'nothing-new',
  };
}

function changed(bytes: Uint8Array, random: Random, another: () => Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('utf8');
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return json(mutatedValue(JSON.parse(text), random));
    case 4:
    case 5:
      return new Uint8Array(Buffer.from(respelled(text, random), 'utf8'));
    case 6:
    case 7:
    case 8:
      return mutatedBytes(bytes, random, another());
    default:
      return nothingLikeIt(random);
  }
}

/** MAX_JSON_BYTES is 1 MiB. */
const SIZES = [0, 1, 2, 1_000, 1_048_575, 1_048_576, 1_048_577, 1_100_000];

function nothingLikeIt(random: Random): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return random.bytes(random.below(300));
    case 1:
      return json(hostileValue(random));
    case 2:
      return new Uint8Array(Buffer.from(rawJson(random), 'utf8'));
    default: {
      // Rare, because large.
      const size = random.chance(0.05) ? random.pick(SIZES) : random.below(2_000);
      return new Uint8Array(Buffer.alloc(size, random.pick(['[', '"', ' ', '0', '{"a":', '\\'])));
    }
  }
}
