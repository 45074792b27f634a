// Whatever was said, and with whatever parts: what is delivered in its place folds to the same state, holds no word of it and
// fits the schemas.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandKindOf, executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import { eventKindOf } from '../../src/domain/events/catalogue.ts';
import { StreamFold } from '../../src/archive/fold.ts';
import { checkDocument } from '../../src/protocol/documents/catalogue.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import { EVENT_ERASE } from '../../src/protocol/retention.ts';
import { canonicalHash } from '../../src/wire/canonical.ts';
import { withoutTexts } from '../../src/wire/rendition.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';
import { activeMission, byOwner, byWorker, GROUP, WORKER } from '../support/fixtures.ts';
import { CASES, SERVICE, type Case } from '../support/draft-of-each-kind.ts';
import { ORGANIZATION, type FoldedEvent, type World } from '../support/world.ts';

const seed = Number(process.env['RENDITIONS_SEED'] ?? Date.now() % 1_000_000);
const MESSAGES = 200;
const AUTHORITY = { type: 'service' as const, id: 'urn:test:service:authority' };
/** Stands in every text, so that one that is left shows. */
const WORD = 'Quirinus';
const looksCommitted = { commitment: `sha256:${'a'.repeat(64)}` };

const said = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => WORD + text),
  fc.constant(`${WORD} ${looksCommitted.commitment}`),
);
const data = fc.oneof(
  said,
  fc.constant(null),
  fc.constant(looksCommitted),
  fc.constant(looksCommitted.commitment),
  fc.array(said, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('text', 'data', 'contentSalt', 'commitment'), said),
);
const part = fc.oneof(
  said.map((text) => ({ type: 'text', text })),
  data.map((value) => ({ type: 'data_ref', schema: 'urn:test:schema', data: value })),
  fc.constant({ type: 'artifact_ref', artifactHash: `sha256:${'b'.repeat(64)}` }),
);
const content = fc.oneof(said, fc.array(part, { minLength: 1, maxLength: 4 }));
const message = fc.record({
  content,
  corrections: fc.array(fc.record({ reason: said, replacementContent: content }), { maxLength: 2 }),
  retraction: fc.option(said, { nil: undefined }),
  isRedacted: fc.boolean(),
  isErased: fc.boolean(),
});

const ERASURE = { kind: EVENT_ERASE, actor: SERVICE, groupId: GROUP };

function play(): World {
  const world = activeMission();
  world.policy.services.push({ serviceId: SERVICE.id, kinds: [EVENT_ERASE], relay: false });
  world.accept(byOwner('membership.change', { principal: WORKER, roles: ['worker'] }));
  const { mainConversationId: conversationId } = world.view.mustGet('group', GROUP);
  let amendments = 0;
  for (const [at, drawn] of fc.sample(message, { seed, numRuns: MESSAGES }).entries()) {
    const messageId = `urn:test:message:${at}`;
    const amend = (kind: string, more: object) => {
      const amendmentId = `urn:test:amendment:${(amendments += 1)}`;
      world.accept((kind === 'message.redact' ? byOwner : byWorker)(kind, { amendmentId, messageId, ...more }));
    };
    world.advance(1);
    world.accept(byWorker('message.post', { messageId, conversationId, content: drawn.content }));
    for (const correction of drawn.corrections) amend('message.correct', correction);
    if (drawn.retraction !== undefined) amend('message.retract', { reason: drawn.retraction });
    if (drawn.isRedacted) amend('message.redact', { reason: `it names ${WORD}` });
    if (drawn.isErased) world.accept({ ...ERASURE, payload: { messageId, reasonCode: 'personal_data' } });
  }
  return world;
}

/** As the authority would have signed it; nothing here looks at the signature. */
function signed(event: FoldedEvent): Event {
  const { kind, groupId, sequence, aggregateRevision, workItemId, conversationId, actor, occurredAt, payload } = event;
  return {
    protocolVersion: '0.1',
    eventId: `urn:test:event:${sequence}`,
    ...(JSON.parse(
      JSON.stringify({ kind, groupId, sequence, aggregateRevision, workItemId, conversationId, actor }),
    ) as object),
    cause: { type: 'command', id: 'urn:test:action' },
    correlationId: 'urn:test:correlation',
    occurredAt,
    acceptedBy: AUTHORITY,
    payload: JSON.parse(JSON.stringify({ ...payload, contentSalt: `a salt for tests ${sequence}` })) as object,
    signature: { algorithm: 'Ed25519', keyId: 'urn:test:key', createdAt: occurredAt, value: 'A'.repeat(86) },
  } as Event;
}

function renderedMessage(event: Event): Event {
  return /^message\.(posted|corrected|retracted|redacted)$/.test(event.kind) ? rendered(event) : event;
}

function rendered(event: Event): Event {
  const occurredAt = '2027-01-01T00:00:00.000Z';
  const unsigned = withoutTexts(event, {
    erasable: eventKindOf(event.kind).erasable,
    signingHash: canonicalHash(event),
    occurredAt,
    mark: { cause: 'erased', reasonCode: 'personal_data', orderedBy: 'urn:test:event:1' },
  });
  return { ...unsigned, signature: { ...event.signature, createdAt: occurredAt } };
}

describe(`${MESSAGES} Messages of all kinds of parts, corrected, retracted, redacted and erased (seed ${seed})`, () => {
  const originals = play().events.map(signed);
  const renditions = originals.map(renderedMessage);

  it('MWP-MSN-009c: the renditions fold to the state of the originals, all of them or any of them', () => {
    const expected = foldedStateHash(ORGANIZATION, GROUP, originals);
    expect(foldedStateHash(ORGANIZATION, GROUP, renditions)).toBe(expected);
    const mixed = originals.map((original, at) => (at % 3 === 0 ? (renditions[at] as Event) : original));
    expect(foldedStateHash(ORGANIZATION, GROUP, mixed)).toBe(expected);
    const fold = new StreamFold();
    for (const event of renditions) {
      const texts = fold.add(event);
      if (event.extensions) expect(texts).toEqual([]);
    }
    expect(fold.stateHash(ORGANIZATION, GROUP)).toBe(expected);
  });

  it('hold no word and no salt, and fit the schemas of an Event and of a Message', () => {
    let checked = 0;
    for (const event of renditions) {
      if (!event.extensions) continue;
      checked += 1;
      expect(JSON.stringify(event)).not.toMatch(/Quirinus|contentSalt/);
      expect(checkDocument('event', event)).toMatchObject({ valid: true });
      const { message: posted, amendment } = event.payload;
      expect(checkDocument('message', posted ?? amendment)).toMatchObject({ valid: true });
    }
    expect(checked).toBeGreaterThan(MESSAGES);
  });

  it('a rendition that still holds a text, or says nothing of what it stands for, folds to nothing', () => {
    const at = renditions.findIndex(({ kind, extensions }) => kind === 'message.corrected' && extensions);
    const rendition = renditions[at] as Event;
    const fold = (event: Event) => foldedStateHash(ORGANIZATION, GROUP, [...originals.slice(0, at), event]);
    expect(() => fold(rendition)).not.toThrow();
    expect(() => fold({ ...rendition, payload: (originals[at] as Event).payload })).toThrow(/no commitment at/);
    const [name] = Object.keys(rendition.extensions ?? {});
    const empty = { [name as string]: { version: '1.0.0', critical: false, data: {} } };
    expect(() => fold({ ...rendition, extensions: empty })).toThrow(/does not say what it is a rendition of/);
  });
});

describe('an Event of any kind', () => {
  it.each(Object.keys(CASES).filter((kind) => commandKindOf(kind)?.group !== 'none'))(
    'MWP-MSN-009c: %s: what came of it folds to the same state without its texts',
    (kind) => {
      const [worldOf, draftOf] = CASES[kind] as Case;
      const world = worldOf();
      world.policy.services = [{ serviceId: SERVICE.id, kinds: executedCommandKinds(), relay: false }];
      world.accept(draftOf(world));
      const originals = world.events.filter(({ groupId }) => groupId === GROUP).map(signed);
      const folded = (events: Event[]) => foldedStateHash(ORGANIZATION, GROUP, events);
      expect(folded(originals.map(rendered))).toBe(folded(originals));
    },
  );
});
