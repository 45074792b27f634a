// Logging in over HTTP: the challenge of the wire protocol, tokens, sessions (MWP-IDN-007, -008, -009).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Challenges } from '../../src/http/auth/challenges.ts';
import { TOKEN_SECONDS } from '../../src/http/auth/tokens.ts';
import { decodeBase64url, encodeBase64url } from '../../src/wire/base64url.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { answerChallenge } from '../../src/worker/challenge.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Tenant } from '../support/tenant.ts';
import { Api, errorIn, refusalIn } from './api.ts';

const REFUSED = '403 AUTH_INVALID_SIGNATURE';

describe.each(STORES)('$name: logging in', ({ open }) => {
  let opened: OpenedStore;
  let tenant: Tenant;
  let api: Api;
  let olga: ActorKey;
  let now: number;

  beforeEach(async () => {
    now = Date.now();
    opened = await open({ clock: () => now });
    tenant = await Tenant.create(opened.store, { clock: () => now });
    api = new Api(tenant, { clock: () => now });
    olga = await tenant.human('olga');
  });
  afterEach(() => opened.close());

  const sessionEpoch = async (agent: ActorKey) => (await api.get(agent, '/me')).json.sessionEpoch as number;

  it('MWP-IDN-007b: the challenge is the canonical transcript of seven members, nonces echoed, new each time', async () => {
    const { principal, keyId } = olga;
    const body = { principal, keyId, clientNonce: 'abcd' };
    const first = (await api.org('POST', '/auth/challenge', { body })).json;
    const second = (await api.org('POST', '/auth/challenge', { body })).json;
    const text = Buffer.from(decodeBase64url(first.challenge) ?? []).toString('utf8');
    const transcript = JSON.parse(text) as Record<string, string>;
    expect(canonicalText(transcript)).toBe(text);
    expect(transcript).toEqual({
      agentId: principal.id,
      challengeId: first.challengeId,
      clientNonce: 'abcd',
      expiresAt: new Date(now + 30_000).toISOString(),
      keyId,
      protocolVersion: '0.1',
      serverNonce: first.serverNonce,
    });
    expect(second.serverNonce).not.toBe(first.serverNonce);
    expect(second.challengeId).not.toBe(first.challengeId);
  });

  it('MWP-IDN-008c: a human and a service get a token without any session', async () => {
    for (const key of [olga, tenant.keyOf(tenant.organization.identity)]) {
      const answer = await api.logIn(key);
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({ tokenType: 'Bearer', principal: key.principal });
      expect(answer.json.sessionEpoch).toBeUndefined();
      expect(Date.parse(answer.json.expiresAt)).toBe(Math.floor(now / 1000) * 1000 + TOKEN_SECONDS * 1000);
      const me = await api.get(key, '/me');
      expect(me.json).toMatchObject({ principal: key.principal, memberships: [] });
      expect(me.json.sessionEpoch).toBeUndefined();
      expect(refusalIn(await api.logIn(key, true))).toBe('400 SCHEMA_VALIDATION_FAILED');
    }
  });

  it('MWP-IDN-007b: an agent reads without a session; opening one yields the next epoch, refreshing none', async () => {
    const agent = await tenant.agent('ada'); // session 1
    expect((await api.logIn(agent)).json.sessionEpoch).toBeUndefined();
    expect(await sessionEpoch(agent)).toBe(1);
    const opened = await api.logIn(agent, true);
    expect(opened.json.sessionEpoch).toBe(2);
    const refreshed = await api.org('POST', '/auth/refresh', { token: opened.json.token, body: {} });
    expect(refreshed.status).toBe(200);
    expect(refreshed.json.sessionEpoch).toBeUndefined();
    expect(await sessionEpoch(agent)).toBe(2);
  });

  it('an agent without a Card is told so, and no session opens', async () => {
    const agent = generateActorKey({ type: 'agent', id: 'urn:test:agent:cardless' });
    await tenant.store.organizations.changeRegistry(tenant.organization.organizationId, {
      principals: [{ principal: agent.principal, displayName: 'x' }],
      bindings: [
        {
          keyId: agent.keyId,
          principal: agent.principal,
          algorithm: 'Ed25519',
          publicKey: agent.publicKey,
          validFrom: tenant.now(),
        },
      ],
    });
    expect(refusalIn(await api.logIn(agent, true))).toBe('422 INVALID_COMMAND');
    expect(await sessionEpoch(agent)).toBe(0);
  });

  it('MWP-IDN-007b: replayed, altered, expired and foreign answers are refused in the same words', async () => {
    const eve = await tenant.human('eve');
    const unknown = generateActorKey({ type: 'human', id: 'urn:test:human:nobody' });
    const answers = [
      await api.logIn(olga, false, (body) => ({ ...body, challengeSignature: encodeBase64url(new Uint8Array(64)) })),
      await api.logIn(olga, false, (body) => ({ ...body, challenge: altered(body.challenge, 'clientNonce', 'zzzz') })),
      await api.logIn(olga, false, (body) => ({ ...body, challenge: altered(body.challenge, 'serverNonce', 'zzzz') })),
      await api.logIn(olga, false, (body) => ({ ...body, challenge: altered(body.challenge, 'keyId', eve.keyId) })),
      await api.logIn(olga, false, (body) => ({
        ...body,
        challenge: altered(body.challenge, 'expiresAt', '2999-01-01T00:00:00Z'),
      })),
      await api.logIn(olga, false, (body) => ({ ...body, challenge: encodeBase64url(Buffer.from('{"a":1}')) })),
      await api.logIn(olga, false, (body) => ({ ...body, principal: { type: 'human', id: eve.principal.id } })),
      await api.logIn(olga, false, (body) => ({ ...body, principal: { type: 'agent', id: olga.principal.id } })),
      // Her principal, somebody else's key; and nobody's at all.
      await api.logIn({ ...eve, principal: olga.principal }),
      await api.logIn({ ...olga, signer: eve.signer }),
      await api.logIn(unknown),
    ];
    const documents = answers.map((answer) => ({ ...errorIn(answer), status: answer.status, occurredAt: '' }));
    expect(new Set(documents.map((document) => JSON.stringify(document))).size).toBe(1);
    expect(answers.map(refusalIn)).toEqual(answers.map(() => REFUSED));
    expect((await api.logIn(olga)).status).toBe(200);
  });

  it('MWP-IDN-007b: a challenge counts once, good or bad, and until just before its end', async () => {
    const { principal, keyId } = olga;
    const answer = async (spoil: boolean, laterMilliseconds = 0) => {
      const asked = await api.org('POST', '/auth/challenge', { body: { principal, keyId, clientNonce: 'abcd' } });
      const challengeSignature = answerChallenge(olga, 'abcd', asked.json.challenge);
      const good = { principal, challenge: asked.json.challenge, challengeSignature };
      if (spoil)
        await api.org('POST', '/auth/token', {
          body: { ...good, challengeSignature: encodeBase64url(Buffer.alloc(64, 1)) },
        });
      now += laterMilliseconds;
      const first = await api.org('POST', '/auth/token', { body: good });
      const again = await api.org('POST', '/auth/token', { body: good });
      return [first.status, refusalIn(again)];
    };
    expect(await answer(false)).toEqual([200, REFUSED]);
    expect(await answer(true)).toEqual([403, REFUSED]);
    expect(await answer(false, 29_999)).toEqual([200, REFUSED]);
    expect(await answer(false, 30_000)).toEqual([403, REFUSED]);
  });

  it('a challenge of one Organization, or of another master key, is worth nothing here', async () => {
    const other = await Tenant.create(opened.store, { clock: () => now });
    const theirs = new Challenges(api.vault).issue(
      other.organization.slug,
      { principal: olga.principal, keyId: olga.keyId, clientNonce: 'abcd' },
      tenant.now(),
    );
    const challengeSignature = answerChallenge(olga, 'abcd', theirs.challenge);
    const body = { principal: olga.principal, challenge: theirs.challenge, challengeSignature };
    expect(refusalIn(await api.org('POST', '/auth/token', { body }))).toBe(REFUSED);
  });

  it('MWP-EVT-008 (j): what is no challenge request is refused by its shape', async () => {
    const { principal, keyId } = olga;
    const ask = (body: object) => api.org('POST', '/auth/challenge', { body }).then(refusalIn);
    const wrong = [
      { principal, keyId },
      { principal, keyId, clientNonce: 'a' },
      { principal, keyId, clientNonce: 'a'.repeat(257) },
      { principal, keyId, clientNonce: 'a+b/' },
      { principal: { ...principal, type: 'robot' }, keyId, clientNonce: 'abcd' },
      { principal, keyId: 'no uri', clientNonce: 'abcd' },
      { principal, keyId, clientNonce: 'abcd', more: 1 },
    ];
    for (const body of wrong) expect(await ask(body)).toBe('400 SCHEMA_VALIDATION_FAILED');
    const longest = { principal, keyId, clientNonce: 'a'.repeat(256) };
    expect((await api.org('POST', '/auth/challenge', { body: longest })).status).toBe(200);
  });
});

function altered(challenge: string, member: string, value: string): string {
  const transcript = JSON.parse(Buffer.from(challenge, 'base64url').toString('utf8')) as Record<string, string>;
  return encodeBase64url(Buffer.from(canonicalText({ ...transcript, [member]: value })));
}
