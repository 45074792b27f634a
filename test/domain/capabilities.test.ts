import { describe, expect, it } from 'vitest';
import { compareVersions, pinsFor, satisfies } from '../../src/domain/capabilities.ts';

const coding = (version: string) => ({ id: 'software.coding', version });

describe('capabilities: the same id at the minimum version or later', () => {
  it('Semantic Versioning 11: orders the published examples', () => {
    const ascending = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ];
    for (const [position, version] of ascending.entries()) {
      for (const [other, compared] of ascending.entries()) {
        expect(Math.sign(compareVersions(version, compared)), `${version} ${compared}`).toBe(
          Math.sign(position - other),
        );
      }
    }
  });

  it('compares numbers beyond binary64 exactly, and ignores build metadata', () => {
    expect(compareVersions('9007199254740993.0.0', '9007199254740992.0.0')).toBeGreaterThan(0);
    expect(compareVersions('1.0.0-9007199254740993', '1.0.0-9007199254740992')).toBeGreaterThan(0);
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
    expect(compareVersions('1.0.0-rc-1', '1.0.0-rc-1+x')).toBe(0);
  });

  it('is satisfied by an equal or later version, not by an earlier one or another id', () => {
    expect(satisfies([coding('1.2.0')], [coding('1.2.0')])).toBe(true);
    expect(satisfies([coding('2.0.0')], [coding('1.2.0')])).toBe(true);
    expect(satisfies([coding('1.1.9')], [coding('1.2.0')])).toBe(false);
    expect(satisfies([coding('1.2.0-rc.1')], [coding('1.2.0')])).toBe(false);
    expect(satisfies([{ id: 'software.review', version: '9.0.0' }], [coding('1.0.0')])).toBe(false);
    expect(satisfies([coding('1.2.0')], [coding('1.0.0'), { id: 'software.review', version: '1.0.0' }])).toBe(false);
  });

  it('pins the best version on offer', () => {
    expect(pinsFor([coding('1.3.0'), coding('1.10.0'), coding('0.9.0')], [coding('1.0.0')])).toEqual([
      coding('1.10.0'),
    ]);
  });
});
