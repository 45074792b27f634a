// Both steps of a login and the refresh, of people who exist and of nobody.
import { answerChallenge } from '../../../src/worker/challenge.ts';
import { json, type HttpCase, type World } from '../cases.ts';
import { mutatedBytes, mutatedValue, respelled } from '../mutations.ts';
import type { Random } from '../random.ts';
import { LOGIN_NONCE } from '../tenant.ts';
import { badAuthorization } from '../tokens.ts';

const JSON_TYPE: [string, string] = ['content-type', 'application/json'];

/** A challenge that was issued to the Worker of the quiet Organization; made once in a while, and used again and again. */
export interface IssuedChallenge {
  challenge: string;
}

export function loginAttempt(random: Random, world: World, { challenge }: IssuedChallenge): HttpCase {
  const { quiet, quietScene } = world;
  const { bob } = quietScene;
  const { principal, keyId } = bob;
  const slug = random.chance(0.8) ? quiet.slug : random.pick(['nobody', 'QUIET', '__proto__', '%00', 'x'.repeat(300)]);
  const base = `/v1/orgs/${slug}/auth`;
  switch (random.below(6)) {
    case 0: {
      const authorization = badAuthorization(random, world);
      const headers: [string, string][] = authorization === undefined ? [] : [['authorization', authorization]];
      return { method: 'POST', target: `${base}/refresh`, headers, expect: 'unauthorized' };
    }
    case 1:
    case 2:
    case 3: {
      const body = changed({ principal, keyId, clientNonce: LOGIN_NONCE }, random);
      return { method: 'POST', target: `${base}/challenge`, headers: [JSON_TYPE], body };
    }
    default: {
      const answer = answerChallenge(bob, LOGIN_NONCE, challenge) ?? 'AAAA';
      // Without a session: opening one would change the Organization.
      const body = changed({ principal, challenge, challengeSignature: answer }, random);
      return { method: 'POST', target: `${base}/token`, headers: [JSON_TYPE], body: withoutSession(body) };
    }
  }
}

function changed(value: object, random: Random): Uint8Array {
  const text = JSON.stringify(value);
  if (random.chance(0.6)) return json(mutatedValue(value, random));
  if (random.chance(0.5)) return new Uint8Array(Buffer.from(respelled(text, random), 'utf8'));
  const bytes = new Uint8Array(Buffer.from(text, 'utf8'));
  return mutatedBytes(bytes, random, bytes);
}

function withoutSession(body: Uint8Array): Uint8Array {
  return Buffer.from(body).includes('openSession') ? json({}) : body;
}
