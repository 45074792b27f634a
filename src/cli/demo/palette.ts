// Colours by meaning, or none: a terminal without NO_COLOR gets them, a file or a pipe gets the bare words.

import { stripVTControlCharacters } from 'node:util';

export interface Palette {
  readonly bold: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly refused: Paint;
  readonly laneA: Paint;
  readonly laneB: Paint;
}

export type Paint = (text: string) => string;

const plain: Paint = (text) => text;
const sgr =
  (open: number, close: number): Paint =>
  (text) =>
    `\x1b[${open}m${text}\x1b[${close}m`;

export const PLAIN: Palette = {
  bold: plain,
  faint: plain,
  good: plain,
  bad: plain,
  refused: plain,
  laneA: plain,
  laneB: plain,
};

export const COLOURED: Palette = {
  bold: sgr(1, 22),
  faint: sgr(2, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  refused: sgr(33, 39),
  laneA: sgr(36, 39),
  laneB: sgr(35, 39),
};

/** https://no-color.org: set and not empty turns colours off. */
export function paletteFor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): Palette {
  const off = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return stream.isTTY === true && !off ? COLOURED : PLAIN;
}

/** Columns that a text takes: every sign that the demo prints is one column wide. */
export function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}

export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}
