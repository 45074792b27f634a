// Prints what was measured. Absolute figures belong to the machine and its mood; the ratios are what to compare.
import type { LoadFigures } from './load.ts';
import type { Figures } from './samples.ts';

export interface Line {
  point: string;
  /** The checkout. */
  of: string;
  load: LoadFigures;
  floor: Figures;
}

const HEAD = ['point', 'checkout', 'commands/s', 'p50 ms', 'p99 ms', 'floor/s', 'ratio', 'service CPU ms'];

export function printTable(title: string, lines: readonly Line[]): void {
  const rows = lines.map(({ point, of, load, floor }) => [
    point,
    of,
    load.perSecond.toFixed(0),
    load.p50Milliseconds.toFixed(1),
    load.p99Milliseconds.toFixed(1),
    floor.perSecond.toFixed(0),
    (load.perSecond / floor.perSecond).toFixed(2),
    load.cpuPerCommandMilliseconds.toFixed(2),
  ]);
  const widths = HEAD.map((name, at) => Math.max(name.length, ...rows.map((row) => (row[at] ?? '').length)));
  const print = (row: readonly string[]) =>
    console.log(
      row.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    );
  console.log(`\n${title}`);
  print(HEAD);
  for (const row of rows) print(row);
}
