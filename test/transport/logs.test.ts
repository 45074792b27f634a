// What stands in the log while two missions are played and others try what they may not: every refusal with its names, and
// nothing of what was said, signed or held secret.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../../src/cli/demo/actor.ts';
import { assembleCast, type Cast } from '../../src/cli/demo/cast.ts';
import { Checks } from '../../src/cli/demo/checks.ts';
import { Journal } from '../../src/cli/demo/journal.ts';
import { playBoth } from '../../src/cli/demo/missions.ts';
import { Operator } from '../../src/cli/demo/operator.ts';
import { PLAIN } from '../../src/cli/demo/palette.ts';
import { Play } from '../../src/cli/demo/play.ts';
import { Screen } from '../../src/cli/demo/screen.ts';
import { policyOfTheStory } from '../../src/cli/demo/stage.ts';
import { generateActorKey } from '../../src/worker/keys.ts';
import { ENGINES, newMission, newPlace, OPERATOR_TOKEN, Serving, sign, type Place } from '../support/serving.ts';

/** Sent in Commands that are refused on the way. */
const HOSTILE_TEXT = 'unmistakable text of a hostile sender';

/** A matcher's own type is any. */
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const SAID: unknown = expect.any(String);

describe.each(ENGINES)('the log of a busy service on %s', { timeout: 120_000 }, (engine) => {
  let place: Place;
  let serving: Serving;
  let cast: Cast;
  /** Whatever went over the wire in a body or a header, while everything was played. */
  const wire: { texts: Set<string>; secrets: Set<string> } = { texts: new Set(), secrets: new Set() };
  let leaveWire: () => void;

  beforeAll(async () => {
    leaveWire = watchFetch(wire);
    place = await newPlace(engine);
    serving = await Serving.start(place.environment);
    await serving.people();
    cast = await play(serving);
    await trespass(serving);
  }, 120_000);
  afterAll(async () => {
    leaveWire();
    await serving.service.stop();
    place.giveBack();
  });

  it('names each accepted Command by tenant, Group, Action and request, at debug', () => {
    const accepted = serving.lines('a Command was accepted');
    expect(accepted.length).toBeGreaterThan(100);
    for (const line of accepted)
      expect(line).toMatchObject({
        level: 20,
        tenant: matching(/^\S+$/),
        actionId: matching(/^urn:uuid:/),
        kind: matching(/\w+\.\w+/),
        requestId: matching(/^\S{8,}$/),
      });
  });

  it('names each refused Command by its code, and by what could be read of it', () => {
    const refused = serving.lines('a Command was refused');
    const codes = new Set(refused.map(({ code }) => code));
    for (const code of ['PROTOCOL_VIOLATION', 'SCHEMA_VALIDATION_FAILED', 'AUTH_INVALID_SIGNATURE', 'AUTH_FORBIDDEN'])
      expect(codes).toContain(code);
    for (const line of refused) expect(line).toMatchObject({ level: 30, tenant: SAID, requestId: SAID });
    const domain = refused.filter(({ code }) => code === 'APPROVAL_REQUIRED');
    expect(domain[0]).toMatchObject({ groupId: SAID, actionId: SAID });
  });

  it('tells of failed logins, of the operator’s changes and of who is no operator', () => {
    expect(serving.lines('a login was refused')[0]).toMatchObject({ principal: serving.olga.principal });
    expect(serving.lines('the operator changed something').length).toBeGreaterThan(5);
    expect(serving.lines('a request for the operator was refused')[0]).toMatchObject({ level: 30, status: 401 });
  });

  it('holds no text of a payload, no signature, no token and no key', () => {
    const log = serving.log.join('');
    expect(log.length).toBeGreaterThan(50_000);
    // Made sure of: the texts and secrets were there to be logged.
    expect(wire.texts.size).toBeGreaterThan(50);
    expect(wire.secrets.size).toBeGreaterThan(200);
    expect(wire.texts).toContain(HOSTILE_TEXT);
    const keys = (Object.values(cast) as Actor[]).map(({ key }) => key.publicKey);
    const { DATABASE_URL, MWP_MASTER_KEY } = place.environment;
    const secrets = [...wire.secrets, ...keys, OPERATOR_TOKEN, MWP_MASTER_KEY, DATABASE_URL, passwordIn(DATABASE_URL)];
    const found = [...wire.texts, ...secrets].filter((text) => text !== undefined && log.includes(text));
    expect(found).toEqual([]);
  });

  async function play({ url }: Serving): Promise<Cast> {
    const stop = new AbortController();
    const { signal } = stop;
    const operator = new Operator({ url, token: OPERATOR_TOKEN, signal });
    await operator.createOrganization('demo', 'The demo');
    const policy = await operator.policy('demo');
    await operator.putPolicy('demo', policyOfTheStory(policy));
    const played = await assembleCast({ operator, url, organization: 'demo', journal: new Journal(), signal });
    const screen = new Screen({ write: () => undefined, palette: PLAIN, clock: () => performance.now() });
    const staging = { cast: played, screen, checks: new Checks(), paceMs: 0, signal };
    await playBoth({ A: new Play('A', staging), B: new Play('B', staging) }, stop);
    expect(staging.checks.failed).toEqual([]);
    return played;
  }
});

/** Each way of being refused, with a text in it that nobody may find again. */
async function trespass(serving: Serving): Promise<void> {
  const { olga, ada } = serving;
  const payload = { objective: HOSTILE_TEXT, title: HOSTILE_TEXT };
  const good = Buffer.from(serving.creation(payload).bytes).toString();
  const stranger = generateActorKey(olga.principal);
  const hostile = [
    `${good}x`,
    good.slice(0, -20),
    good.replace('"payload"', '"extra":1,"payload"'),
    good.replace(/"payload":\{/, `"payload":{"${HOSTILE_TEXT}":1,`),
    good.replace(HOSTILE_TEXT, `${HOSTILE_TEXT}!`),
    good.replace('mission.create', 'mission.unmake'),
    Buffer.from(sign(stranger, newMission(olga, ada).creation(payload)).bytes).toString(),
    Buffer.from(sign(olga, newMission(olga, ada).creation({ ...payload, deadline: HOSTILE_TEXT })).bytes).toString(),
  ];
  for (const text of hostile) {
    const answer = await serving.submit(olga, Buffer.from(text));
    expect([text.slice(0, 60), answer.status >= 400 && answer.status < 500]).toEqual([text.slice(0, 60), true]);
  }
  expect((await serving.submit(ada, serving.creation(payload).bytes)).status).toBe(403); // not hers
  const login = await fetch(`${serving.url}/v1/orgs/acme/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ principal: olga.principal, challenge: 'AAAA', challengeSignature: 'AAAA' }),
  });
  expect(login.status).toBe(403);
  const forged = await serving.operate('GET', '/organizations', undefined, {
    authorization: `Bearer ${'y'.repeat(32)}`,
  });
  expect(forged.status).toBe(401);
}

/** Remembers the free texts and the secrets of every body, and the tokens of every header, that goes through fetch. */
function watchFetch(wire: { texts: Set<string>; secrets: Set<string> }): () => void {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const { authorization } = (init?.headers ?? {}) as Record<string, string>;
    if (authorization !== undefined) wire.secrets.add(authorization.replace(/^Bearer /, ''));
    const { body } = (init ?? {}) as { body?: string | Uint8Array };
    if (body !== undefined) collect(parsed(Buffer.from(body as Uint8Array).toString()), '', wire);
    const response = await real(input, init);
    const text = await response.clone().text();
    if (response.ok) collect(parsed(text), '', wire);
    return response;
  };
  return () => void (globalThis.fetch = real);
}

const SECRET_MEMBERS =
  /^(value|token|challenge|challengeSignature|signature|publicKey|serverNonce|contentSalt|sealed)$/;

function collect(value: unknown, name: string, wire: { texts: Set<string>; secrets: Set<string> }): void {
  if (typeof value === 'string') {
    // Ids, kinds, codes and times have no blank in them; what people and agents say has.
    if (SECRET_MEMBERS.test(name) && value.length >= 20) wire.secrets.add(value);
    else if (value.length >= 12 && value.includes(' ')) wire.texts.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [member, inner] of Object.entries(value)) collect(inner, member, wire);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text.includes(HOSTILE_TEXT) ? HOSTILE_TEXT : undefined;
  }
}

function passwordIn(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).password || undefined;
}
