import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../src/protocol/refusals.ts';
import { byOwner } from '../support/fixtures.ts';
import { activeItem, authorize } from '../support/work-fixtures.ts';

const NAMES = {
  'a NUL': '\u0000',
  'a NUL within': 'a\u0000b',
  'an escape sequence': '\u001b[31m',
  'a line break': 'a\nb',
  'pairs of surrogates that are cut': '😀'.repeat(3_000),
  'pairs of surrogates that are cut elsewhere': `x${'😀'.repeat(3_000)}`,
};

describe('what a refusal says of a malformed payload', () => {
  it.each(Object.entries(NAMES))(
    'can be recorded and sent, with %s in the name of an unknown member',
    (_what, name) => {
      const world = activeItem();
      const drafts = [byOwner('mission.cancel', { reason: 'x', [name]: 1 }), authorize({ contract: { [name]: 1 } })];
      for (const draft of drafts) {
        const decision = world.decide({ ...draft, payload: { ...draft.payload, workItemId: 'urn:test:work:new' } });
        if (!isRefusal(decision)) throw new Error('accepted');
        expect(decision.message).not.toMatch(/[\p{Cc}\p{Cs}]/u);
        expect(decision.message.length).toBeLessThan(500);
      }
    },
  );
});
