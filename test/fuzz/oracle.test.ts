// The fuzz run can fail: what its judge must find, it finds; and a case is the same whenever it is made.
import { describe, expect, it } from 'vitest';
import { errorDocument } from '../../src/http/errors.ts';
import { refuse, type ErrorCode } from '../../src/protocol/refusals.ts';
import { mutatedBytes, mutatedValue, respelled } from './mutations.ts';
import { judge, type Answer, type Question } from './oracle.ts';
import { Random } from './random.ts';

const JSON_TYPE: [string, string] = ['content-type', 'application/json'];
const question: Question = { sent: 'GET /me', isHead: false, secrets: ['urn:fuzz:other'] };

function refusal(code: ErrorCode, status: number, message = 'no', headers: [string, string][] = [JSON_TYPE]): Answer {
  return { status, headers, body: JSON.stringify(errorDocument(refuse(code, message))) };
}
const found = (answer: Answer, more: Partial<Question> = {}) => judge(answer, { ...question, ...more }).findings;

describe('the judge', () => {
  it('finds nothing in what the service may answer', () => {
    expect(found(refusal('GROUP_NOT_FOUND', 404))).toEqual([]);
    expect(found(refusal('AUTH_REQUIRED', 401, 'no', [JSON_TYPE, ['www-authenticate', 'Bearer']]))).toEqual([]);
    expect(found({ status: 200, headers: [JSON_TYPE], body: '{"items":[]}' })).toEqual([]);
    expect(found({ status: 404, headers: [JSON_TYPE], body: '' }, { isHead: true })).toEqual([]);
  });

  it.each<[what: string, answer: Answer, more?: Partial<Question>]>([
    ['a failure', refusal('INTERNAL_ERROR', 503)],
    ['a status that is not of the code', refusal('GROUP_NOT_FOUND', 403)],
    ['an error that is no document', { status: 400, headers: [JSON_TYPE], body: '{"error":"no"}' }],
    ['an error that is no JSON', { status: 400, headers: [JSON_TYPE], body: 'Bad Request' }],
    ['an error of no type', refusal('GROUP_NOT_FOUND', 404, 'no', [])],
    ['a 401 without its challenge', refusal('AUTH_REQUIRED', 401)],
    ['a stack', refusal('INVALID_COMMAND', 422, 'TypeError at f (/srv/app/x.js:1:2)')],
    ['a word of SQL', refusal('INVALID_COMMAND', 422, 'SELECT id FROM events')],
    ['the name of another tenant', refusal('INVALID_COMMAND', 422, 'urn:fuzz:other')],
    ['a header that we do not send', refusal('GROUP_NOT_FOUND', 404, 'no', [JSON_TYPE, ['set-cookie', 'a=b']])],
    ['a header with a control character', refusal('GROUP_NOT_FOUND', 404, 'no', [JSON_TYPE, ['date', 'a\u0001']])],
    ['an opened door', { status: 200, headers: [JSON_TYPE], body: '{}' }, { expect: 'unauthorized' }],
    [
      'a Command that was accepted after a change',
      { status: 200, headers: [JSON_TYPE], body: '{"receipt":{"events":[{}]},"events":[],"duplicate":false}' },
      { expect: 'nothing-new' },
    ],
    ['a redirection', { status: 302, headers: [], body: '' }],
    ['a page that is no JSON', { status: 200, headers: [JSON_TYPE], body: '{"a":1,"a":2}' }],
  ])('finds %s', (_what, answer, more) => {
    expect(found(answer, more)).not.toEqual([]);
  });

  it('what the answer only repeats of the question is no leak', () => {
    const answer = refusal('INVALID_COMMAND', 422, 'no such member urn:fuzz:other');
    expect(found(answer, { sent: 'GET /urn:fuzz:other' })).toEqual([]);
  });
});

describe('chance', () => {
  it('a case is the same for the same seed and number, and another for any other', () => {
    const value = { a: [1, 2, { b: 'text' }], c: null };
    const bytes = new Uint8Array(Buffer.from(JSON.stringify(value)));
    const make = (seed: number, caseNumber: number) => {
      const random = new Random(seed, caseNumber);
      return [
        JSON.stringify(mutatedValue(value, random)),
        respelled('{"a":1,"b":"c"}', random),
        Buffer.from(mutatedBytes(bytes, random, bytes)).toString('hex'),
      ].join();
    };
    const cases = Array.from({ length: 200 }, (_, caseNumber) => make(7, caseNumber));
    expect(cases).toEqual(cases.map((_, caseNumber) => make(7, caseNumber)));
    expect(new Set(cases).size).toBeGreaterThan(190);
    expect(make(8, 0)).not.toBe(cases[0]);
  });
});
