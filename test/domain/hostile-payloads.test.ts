// Payloads that are almost right, for each kind: some member is replaced, dropped, added or repeated at random. Whatever
// comes, the answer is a refusal or Events that can be signed; nothing a client sends may throw (it would be answered
// INTERNAL_ERROR) or leave an Event that nobody can read. fast-check prints the seed of a failure.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import { isJsonObject } from '../../src/protocol/documents/json-value.ts';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { faultsOf } from '../support/accepted-documents.ts';
import { CASES, SERVICE, type Case } from '../support/draft-of-each-kind.ts';
import { GROUP, WORKER } from '../support/fixtures.ts';
import { hashOf } from '../support/signed-documents.ts';
import { ITEM } from '../support/work-fixtures.ts';
import type { CommandDraft, World } from '../support/world.ts';

const RUNS = 250;

const spelled = (text: string): unknown => JSON.parse(text);

/** What a strict parser lets through and careless code trips over. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -0, -1, 1.5, 1e-7, 1e21, 1e300, 5e-324, 2 ** 53 - 1, 2 ** 53, -(2 ** 53)],
    ...['', ' ', '\u0000', '__proto__', 'constructor', '😀'.repeat(3), 'x'.repeat(100_001)],
    ...['urn:x', `urn:test:${'x'.repeat(503)}`, `urn:test:${'x'.repeat(504)}`, 'sha256:', hashOf('f')],
    ...[GROUP, ITEM, WORKER.id, 'urn:test:work:absent', '1.0.0', 'P', 'PT0S', 'EUR', 'XXX'],
    ...['9999-12-31T23:59:59.999999999-23:59', '0001-01-01T00:00:00+23:59', '2026-11-29t12:00:00.000z'],
    ...[{}, [], [null], { commitment: hashOf('e') }, { toString: 1, valueOf: 1 }, [[]], [{}], WORKER, [WORKER, WORKER]],
    spelled('{"__proto__":{"polluted":true}}'),
    spelled('{"__proto__":null,"toString":null,"length":-1}'),
    spelled(`${'['.repeat(40)}${']'.repeat(40)}`),
    Array.from({ length: 10_000 }, (_, index) => `urn:test:${index}`),
    Array.from({ length: 10_000 }, () => 'worker'),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const step = fc.record({
  /** Which of all places, taken modulo their number. */
  at: fc.nat(),
  how: fc.constantFrom('replace', 'drop', 'add', 'repeat'),
  name: fc.constantFrom('__proto__', 'constructor', 'extensions', 'constraints', 'extra', 'contentSalt', 'workItemId'),
  value: hostile,
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Place {
  holder: Record<string, unknown> | unknown[];
  name: string;
}

function placesIn(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const name of Object.keys(value).slice(0, 50)) {
    found.push({ holder: value as Place['holder'], name });
    placesIn((value as Record<string, unknown>)[name], found);
  }
  return found;
}

/** As JSON would bring it: `__proto__` becomes a member of its own. */
function put(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}

function mutated(payload: object, steps: readonly Step[]): Record<string, unknown> {
  const root = { payload: structuredClone(payload) };
  for (const { at, how, name: added, value } of steps) {
    const places = placesIn(root);
    const { holder, name } = places[at % places.length] as Place;
    const old = (holder as Record<string, unknown>)[name];
    if (how === 'replace') put(holder, name, structuredClone(value));
    else if (how === 'repeat' && Array.isArray(old)) old.push(...(structuredClone(old.slice(0, 3)) as unknown[]));
    else if (how === 'drop' && holder !== root && !Array.isArray(holder)) delete holder[name];
    else if (how === 'add' && isJsonObject(old)) put(old, added, structuredClone(value));
  }
  const { payload: changed } = root as { payload: unknown };

  return isJsonObject(changed) ? changed : {};
}

function prepare([worldOf, draftOf]: Case): { world: World; draft: CommandDraft } {
  const world = worldOf();
  world.policy.services = [{ serviceId: SERVICE.id, kinds: executedCommandKinds(), relay: false }];
  return { world, draft: draftOf(world) };
}

describe('hostile payloads', () => {
  it('has a case for each kind that is executed', () => {
    expect(Object.keys(CASES).sort()).toEqual(executedCommandKinds().sort());
  });

  it.each(Object.entries(CASES))('%s: what the cases begin with is decided, and its Events fit', (_kind, given) => {
    const { world, draft } = prepare(given);
    const decision = world.decide(draft);
    if (isRefusal(decision)) throw new Error(`${decision.code} ${decision.message}`);
    expect(faultsOf(decision, draft.actor)).toEqual([]);
  });

  it.each(Object.entries(CASES))(
    'MWP-WRK-003b: %s accepts or refuses, and never fails on a payload',
    (_kind, given) => {
      const { world, draft } = prepare(given);
      fc.assert(
        fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), (steps) => {
          const decision = world.decide({ ...draft, payload: mutated(draft.payload, steps) });
          if (isRefusal(decision)) expect(decision.message.length).toBeLessThanOrEqual(2_000);
          else expect(faultsOf(decision, draft.actor)).toEqual([]);
        }),
        { numRuns: RUNS },
      );
    },
  );
});
