import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkDocument, DOCUMENT_NAMES } from '../../src/protocol/documents/catalogue.ts';
import { codePointLength, hasOnlyUniqueItems } from '../../src/protocol/documents/json-value.ts';
import { isUri } from '../../src/protocol/documents/uri.ts';
import {
  COORDINATOR_ONLY_KINDS,
  CORE_COMMAND_KINDS,
  CORE_EVENT_KINDS,
  EXTENSION_COMMAND_KINDS,
  EXTENSION_EVENT_KINDS,
  ORGANIZATION_COMMAND_KINDS,
  ORGANIZATION_EVENT_KINDS,
  SIGNED_DOCUMENT_KINDS,
} from '../../src/protocol/kinds.ts';

const signature = {
  algorithm: 'Ed25519',
  keyId: 'urn:example:key:1',
  createdAt: '2026-03-01T12:00:00Z',
  value: 'A'.repeat(86),
};

function command(members: Record<string, unknown>, actorType = 'agent') {
  return {
    protocolVersion: '0.1',
    actionId: 'urn:example:action:1',
    actor: { type: actorType, id: 'urn:example:actor:1' },
    kind: 'message.post',
    groupId: 'urn:example:group:1',
    correlationId: 'urn:example:correlation:1',
    issuedAt: '2026-03-01T12:00:00Z',
    payload: {},
    signature,
    ...members,
  };
}

const ofAgent = { sessionEpoch: 1, membershipEpoch: 1 };
const isValid = (value: unknown) => checkDocument('command', value).valid;
const message = (members: Record<string, unknown>) => ({
  messageId: 'urn:example:message:1',
  missionId: 'urn:example:mission:1',
  groupId: 'urn:example:group:1',
  conversationId: 'urn:example:conversation:1',
  author: { type: 'agent', id: 'urn:example:actor:1' },
  kind: 'message',
  authority: false,
  content: [{ type: 'text', text: 'hello' }],
  committedAt: '2026-03-01T12:00:00Z',
  ...members,
});

describe('the vocabulary', () => {
  it('MWP-FND-004a: counts of kinds and documents are those of the protocol', () => {
    expect(CORE_COMMAND_KINDS).toHaveLength(32);
    expect(CORE_EVENT_KINDS).toHaveLength(36);
    expect(EXTENSION_COMMAND_KINDS).toHaveLength(6);
    expect(EXTENSION_EVENT_KINDS).toHaveLength(4);
    expect(ORGANIZATION_COMMAND_KINDS).toHaveLength(2);
    expect(ORGANIZATION_EVENT_KINDS).toHaveLength(2);
    expect(COORDINATOR_ONLY_KINDS).toHaveLength(5);
    expect(SIGNED_DOCUMENT_KINDS).toHaveLength(9);
    expect(DOCUMENT_NAMES).toHaveLength(21);
  });
});

describe('identifiers', () => {
  it.each([
    'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66',
    'urn:',
    'a:',
    'mailto:a@b',
    'http://a',
    'HTTP://a:80/b/../c?d=/e?#f/?',
    'http://user:pass@[::1]:8080/',
    'http://[2001:db8::192.0.2.1]/',
    'http://[V1f.a:b]/',
    'file:///a//b',
    'x:/a',
    'urn:x:%7E%e4',
    'sha256:00',
    'http://a:/',
  ])('MWP-FND-008a: %s is an absolute URI', (text) => {
    expect(isUri(text)).toBe(true);
  });

  it.each([
    'relative/path',
    '/rooted',
    '//host/path',
    '',
    ':x',
    '1a:x',
    'urn:a b',
    'urn:é',
    'urn:a\n',
    'urn:a%',
    'urn:a%2',
    'urn:a%GG',
    'urn:a#b#c',
    'urn:a[1]',
    'http://[::1',
    'http://[:::1]/',
    'http://[1::2::3]/',
    'http://[::1.2.3.04]/',
    'http://[::1.2.3.256]/',
    'http://[v.a]/',
    'http://a:8a/',
    'http://a@b@c/',
    'urn:a\\b',
    'urn:<a>',
    'urn:a|b',
    'urn:a"b',
    'urn:a^b',
    'urn:{a}',
    'urn:a`b',
  ])('MWP-FND-008a: %j is not', (text) => {
    expect(isUri(text)).toBe(false);
  });

  it('MWP-FND-008a: an identifier has at most 512 characters and must not be rewritten', () => {
    expect(isValid(command({ ...ofAgent, actionId: `urn:${'a'.repeat(508)}` }))).toBe(true);
    expect(isValid(command({ ...ofAgent, actionId: `urn:${'a'.repeat(509)}` }))).toBe(false);
  });

  it('MWP-FND-008a: a hostile text costs linear time', () => {
    const started = performance.now();
    for (const unit of ['%41', 'a@', '/', ':', 'a/', '%', '1:', '['])
      expect(isUri(`x://${unit.repeat(100_000)}{`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('who may carry which epoch', () => {
  const coordinator = { ...ofAgent, coordinatorEpoch: 1 };
  const noGroup = { groupId: undefined };
  it.each<[string, Record<string, unknown>, boolean, string]>([
    ['agent', {}, false, 'an Agent without epochs'],
    ['agent', ofAgent, true, 'an Agent with both epochs'],
    ['agent', { ...ofAgent, ...noGroup, kind: 'ext.a.b.c' }, false, 'an Agent outside a Group'],
    ['human', { membershipEpoch: 1 }, true, 'a human member'],
    ['human', {}, false, 'a human without Membership Epoch'],
    ['human', ofAgent, false, 'a human with a Session Epoch'],
    ['service', {}, true, 'a service'],
    ['service', { membershipEpoch: 1 }, false, 'a service with a Membership Epoch'],
    ['service', { coordinatorEpoch: 1 }, false, 'a service with a Coordinator Epoch'],
    ['service', noGroup, false, 'a core kind without Group'],
    ['service', { ...noGroup, kind: 'ext.a.b.c' }, true, 'an extension kind without Group'],
    ['human', { kind: 'mission.create' }, true, 'a human creating'],
    ['human', { kind: 'mission.create', membershipEpoch: 1 }, false, 'a human creating with an epoch'],
    ['agent', { ...ofAgent, kind: 'mission.create' }, false, 'an Agent creating'],
    ['service', { kind: 'mission.create_follow_up' }, false, 'a service creating a follow-up'],
    ['human', { kind: 'mission.create_follow_up', coordinatorEpoch: 1 }, false, 'a follow-up with an epoch'],
    ['human', { kind: 'mission.terminate', membershipEpoch: 1 }, false, 'a human terminating'],
    ['service', { kind: 'mission.terminate' }, true, 'a service terminating'],
    ['agent', { ...ofAgent, kind: 'mission.terminate' }, false, 'an Agent terminating without epoch'],
    ['agent', { ...coordinator, kind: 'mission.terminate' }, true, 'a Coordinator terminating'],
    ['agent', { ...ofAgent, kind: 'work.accept_result' }, false, 'a Coordinator kind without epoch'],
    ['agent', { ...coordinator, kind: 'work.accept_result' }, true, 'a Coordinator kind with epoch'],
    ['human', { membershipEpoch: 1, coordinatorEpoch: 1, kind: 'work.accept_result' }, false, 'a human as Coordinator'],
    ['service', { ...noGroup, kind: ORGANIZATION_COMMAND_KINDS[1] }, true, 'an Organization kind'],
    ['service', { kind: ORGANIZATION_COMMAND_KINDS[1] }, false, 'an Organization kind with a Group'],
    ['agent', { ...ofAgent, kind: ORGANIZATION_COMMAND_KINDS[0] }, false, 'an Organization kind of an Agent'],
    ['human', { ...noGroup, kind: ORGANIZATION_COMMAND_KINDS[0] }, false, 'an Organization kind of a human'],
    ['service', { kind: 'mission.unknown' }, false, 'an unknown core kind'],
    ['service', { kind: 'ext.a.b' }, false, 'an extension kind of two labels'],
    ['service', { kind: `ext.a.b.${'c'.repeat(153)}` }, false, 'an extension kind of 161 characters'],
  ])('MWP-FND-016: %s %j is valid: %s (%s)', (type, members, valid) => {
    const value = JSON.parse(JSON.stringify(command(members, type))) as unknown;
    expect(isValid(value)).toBe(valid);
  });
});

describe('values', () => {
  it('MWP-SDV-015c: a schema check hands back the very value, untouched', () => {
    const value = command({ ...ofAgent, payload: JSON.parse('{"z":1,"__proto__":{"a":[]},"a":1.0}') as unknown });
    const before = JSON.stringify(value);
    const check = checkDocument('command', value);
    expect(check.valid && check.document).toBe(value);
    expect(JSON.stringify(value)).toBe(before);
  });

  it('MWP-SDV-015c: unknown members are refused, __proto__ among them', () => {
    expect(isValid(command({ ...ofAgent, extra: 1 }))).toBe(false);
    const text = JSON.stringify(command(ofAgent));
    expect(isValid(JSON.parse(text.replace('{', '{"__proto__":{},')))).toBe(false);
    const extensions = JSON.parse('{"__proto__":{"version":"1.0.0","critical":false,"data":1}}') as unknown;
    expect(isValid(command({ ...ofAgent, extensions }))).toBe(false);
    expect(isValid(command({ ...ofAgent, signature: { ...signature, extra: 1 } }))).toBe(false);
  });

  it('MWP-FND-007c: revisions and epochs are safe integers, 1.0 among them', () => {
    for (const expectedRevision of [0, 1, 2 ** 53 - 1]) {
      expect(isValid(command({ ...ofAgent, expectedRevision }))).toBe(true);
    }
    for (const expectedRevision of [-1, 1.5, 2 ** 53, Infinity, '1', null, true]) {
      expect(isValid(command({ ...ofAgent, expectedRevision }))).toBe(false);
    }
    expect(
      isValid(JSON.parse(JSON.stringify(command({ ...ofAgent, expectedRevision: 7 })).replace(':7', ':7.0'))),
    ).toBe(true);
    expect(isValid(command({ ...ofAgent, sessionEpoch: 0 }))).toBe(false);
  });

  it('MWP-SDV-016: a number beyond binary64 in free JSON is no schema fault', () => {
    expect(isValid(command({ ...ofAgent, payload: { n: Infinity } }))).toBe(true);
  });

  it('MWP-FND-004a: texts are measured in code points', () => {
    const long = (text: string) => checkDocument('message', message({ content: [{ type: 'text', text }] })).valid;
    expect(long('😀'.repeat(100_000))).toBe(true);
    expect(long('😀'.repeat(100_000) + 'a')).toBe(false);
    expect(long('')).toBe(false);
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a') }),
        (a, b) => {
          expect(codePointLength(a + b)).toBe([...(a + b)].length);
        },
      ),
    );
  });

  it('MWP-FND-004a: uniqueness is deep JSON equality', () => {
    expect(
      hasOnlyUniqueItems([
        { a: 1, b: [0] },
        { b: [-0], a: 1 },
      ]),
    ).toBe(false);
    expect(hasOnlyUniqueItems([{ a: 1 }, { a: '1' }, ['a', 1], { a: null }, { a: [1] }, '{"a":1}'])).toBe(true);
    const actors = [
      { type: 'agent', id: 'urn:a:1' },
      { id: 'urn:a:1', type: 'agent' },
    ];
    expect(checkDocument('message', message({ mentions: actors })).valid).toBe(false);
    expect(checkDocument('message', message({ mentions: actors.slice(0, 1) })).valid).toBe(true);
  });

  it('MWP-FND-009: formats assert: a bad date and a relative URI fail', () => {
    expect(isValid(command({ ...ofAgent, issuedAt: '2026-13-01T00:00:00Z' }))).toBe(false);
    const part = (schema: string) => message({ content: [{ type: 'data_ref', schema, data: null }] });
    expect(checkDocument('message', part('schemas/a.json')).valid).toBe(false);
    expect(checkDocument('message', part('https://a/schemas/a.json')).valid).toBe(true);
  });

  it('MWP-FND-004a: a required free member may be null but not absent', () => {
    const content = [{ type: 'data_ref', schema: 'urn:a:b' }];
    expect(checkDocument('message', message({ content })).valid).toBe(false);
    const extension = (data: object) =>
      command({ ...ofAgent, extensions: { 'urn:x:y': { version: '1.0.0', critical: true, ...data } } });
    expect(isValid(extension({ data: null }))).toBe(true);
    expect(isValid(extension({}))).toBe(false);
  });

  it('MWP-FND-003b: a fault names the member and never its value', () => {
    const check = checkDocument('command', command({ ...ofAgent, actionId: 'my secret' }));
    const named = expect.stringMatching(/^\/actionId /) as unknown;
    expect(check).toEqual({ valid: false, fault: named, reason: named });
    expect(JSON.stringify(check)).not.toContain('secret');
  });
});
