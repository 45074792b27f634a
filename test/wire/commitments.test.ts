import { describe, expect, it } from 'vitest';
import { commitmentsIn, commitPayload, isCommitment, restoreTexts } from '../../src/wire/commitments.ts';

const SALT = 'a salt of a test';
const LABEL = `sha256:${'a'.repeat(64)}`;

describe('commitments', () => {
  it('restores what was committed, a null among it', () => {
    const payload = {
      contentSalt: SALT,
      message: { content: [{ data: null }, { data: 0 }, { data: '' }, { data: false }] },
    };
    const committed = commitPayload(payload, ['message.content.*.data']);
    expect(commitmentsIn(committed.payload)).toHaveLength(4);
    const { texts } = committed;
    expect(restoreTexts(committed.payload, (commitment) => texts.get(commitment))).toEqual(payload);
  });

  it('leaves a commitment where its text is gone', () => {
    expect(restoreTexts({ goal: { commitment: LABEL } }, () => undefined)).toEqual({ goal: { commitment: LABEL } });
  });

  it.each([
    ['no digest', 'sha256:'],
    ['a NUL, which PostgreSQL would not look up', 'sha256:\u0000'],
    ['capitals', `sha256:${'A'.repeat(64)}`],
    ['more than a digest', `${LABEL}a`],
    ['a final newline', `${LABEL}\n`],
  ])('takes no free JSON for a commitment that has %s', (_, commitment) => {
    expect(isCommitment({ commitment })).toBe(false);
    expect(commitmentsIn({ constraints: { commitment } })).toEqual([]);
  });

  it('takes only the member alone for a commitment', () => {
    expect(isCommitment({ commitment: LABEL })).toBe(true);
    expect(isCommitment({ commitment: LABEL, more: 1 })).toBe(false);
    expect(isCommitment([LABEL])).toBe(false);
  });
});
