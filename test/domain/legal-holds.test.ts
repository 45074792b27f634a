import { describe, expect, it } from 'vitest';
import { completePolicy, DEFAULT_POLICY, isHeld } from '../../src/domain/policy.ts';
import { GROUP } from '../support/fixtures.ts';

describe('legal holds', () => {
  it('hold the Groups that are named, and with * every Group', () => {
    expect(isHeld({ legalHolds: [] }, GROUP)).toBe(false);
    expect(isHeld({ legalHolds: ['urn:test:group:2'] }, GROUP)).toBe(false);
    expect(isHeld({ legalHolds: ['urn:test:group:2', GROUP] }, GROUP)).toBe(true);
    expect(isHeld({ legalHolds: ['*'] }, GROUP)).toBe(true);
  });

  it('are none by default, and in policies that were stored before there were any', () => {
    const { legalHolds: _later, ...stored } = DEFAULT_POLICY;
    expect([DEFAULT_POLICY.legalHolds, completePolicy(stored).legalHolds]).toEqual([[], []]);
    expect(completePolicy({ ...stored, legalHolds: [GROUP] }).legalHolds).toEqual([GROUP]);
  });
});
