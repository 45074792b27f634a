import { describe, expect, it } from 'vitest';
import { COLOURED, PLAIN, paletteFor, widthOf } from '../../src/cli/demo/palette.ts';
import { Screen } from '../../src/cli/demo/screen.ts';

const LONG = 'tries to renew the lease from before the checkpoint, which is long over by now → WORK_LEASE_EXPIRED';

function linesOf(columns: number | undefined, palette = PLAIN): string[] {
  let text = '';
  const width = columns === undefined ? {} : { columns };
  const screen = new Screen({ write: (part) => (text += part), palette, clock: () => 0, ...width });
  screen.lanes({ A: 'first', B: 'second' });
  screen.tell('The mission begins', { lane: 'A', tone: 'heading' });
  screen.tell(LONG, { lane: 'A', who: 'Ada', tone: 'refused' });
  screen.tell(LONG, { lane: 'B', who: 'Ada', tone: 'refused' });
  return text.trimEnd().split('\n');
}

describe('the screen of the demo', () => {
  it('keeps two lanes apart on a wide terminal, and every line within it', () => {
    const lines = linesOf(120, COLOURED);
    const gutters = new Set(lines.map((line) => [...stripped(line)].findIndex((sign) => sign === '│' || sign === '┼')));
    expect(gutters.size).toBe(1);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(120);
  });

  it.each([80, undefined])('puts the letter of the lane in front at %s columns', (columns) => {
    const told = linesOf(columns).filter((line) => line.includes(' s '));
    expect(told.map((line) => /\d s ([AB]) /.exec(line)?.[1])).toEqual(['A', 'A', 'B']);
    expect(Math.max(...told.map(widthOf))).toBeLessThanOrEqual(columns ?? 120);
  });

  it('never parts an arrow from the code that it points to', () => {
    for (const columns of [undefined, 80, 110, 120, 150]) {
      expect(linesOf(columns).filter((line) => line.includes('→ WORK_LEASE_EXPIRED'))).toHaveLength(2);
    }
  });

  it('paints on a terminal only, and not where NO_COLOR is set', () => {
    expect(paletteFor({ isTTY: true }, {})).toBe(COLOURED);
    expect(paletteFor({ isTTY: true }, { NO_COLOR: '1' })).toBe(PLAIN);
    expect(paletteFor({ isTTY: true }, { NO_COLOR: '' })).toBe(COLOURED);
    expect(paletteFor({}, {})).toBe(PLAIN);
    expect(linesOf(120).join('')).not.toContain('\x1b');
  });
});

function stripped(line: string): string {
  // eslint-disable-next-line no-control-regex
  return line.replaceAll(/\x1b\[\d+m/g, '');
}
