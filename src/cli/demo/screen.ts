// The live telling: every line is printed once and stays, in two lanes where the terminal is wide enough for them, with
// the lane's letter in front where it is not. No cursor is moved, so a log reads like a terminal.

import { padTo, widthOf, type Palette } from './palette.ts';

export type Lane = 'A' | 'B';
/** `told`: something happened. `refused`: refused, as it must be. `heading`: a new part of the story. */
export type Tone = 'told' | 'good' | 'refused' | 'bad' | 'heading';

export interface Telling {
  readonly lane?: Lane;
  readonly who?: string;
  readonly tone?: Tone;
}

export interface ScreenOptions {
  readonly write: (text: string) => void;
  readonly palette: Palette;
  /** Columns of the terminal; absent: not a terminal, plain lines. */
  readonly columns?: number;
  readonly clock: () => number;
}

const CLOCK_WIDTH = 9;
const GUTTER = ' │ ';
/** Narrower lanes would break every sentence. */
const NARROWEST_LANE = 44;
const WIDEST_LANE = 76;
const PLAIN_WIDTH = 118;
const WHO_WIDTH = 5;
/** A blank, but not the one between an arrow and the code that it points to. */
const BREAK = /(?<!→) /;
const MARKS: Readonly<Record<Tone, string>> = { told: '·', good: '✓', refused: '⊘', bad: '✗', heading: '▸' };

export class Screen {
  readonly palette: Palette;
  private readonly options: ScreenOptions;
  private readonly startedAt: number;
  /** Width of one lane, or undefined for one line after the other with a letter in front. */
  private readonly laneWidth: number | undefined;

  constructor(options: ScreenOptions) {
    this.options = options;
    this.palette = options.palette;
    this.startedAt = options.clock();
    const lane = Math.floor(((options.columns ?? 0) - CLOCK_WIDTH - GUTTER.length) / 2);
    this.laneWidth = lane >= NARROWEST_LANE ? Math.min(lane, WIDEST_LANE) : undefined;
  }

  /** Anything outside the two lanes. */
  line(text = ''): void {
    this.options.write(`${text}\n`);
  }

  /** The two titles above the lanes. */
  lanes(titles: Readonly<Record<Lane, string>>): void {
    const { laneWidth } = this;
    const title = (lane: Lane) => this.paintLane(lane, this.palette.bold(`${lane}  ${titles[lane]}`));
    if (laneWidth === undefined) {
      this.line(`  ${title('A')}`);
      this.line(`  ${title('B')}`);
      this.line();
      return;
    }
    const rule = this.palette.faint('─'.repeat(laneWidth));
    this.line(' '.repeat(CLOCK_WIDTH) + padTo(title('A'), laneWidth) + this.palette.faint(GUTTER) + title('B'));
    this.line(' '.repeat(CLOCK_WIDTH) + rule + this.palette.faint('─┼─') + rule);
  }

  tell(text: string, telling: Telling = {}): void {
    const { lane, tone = 'told', who = '' } = telling;
    const seconds = ((this.options.clock() - this.startedAt) / 1000).toFixed(2);
    const time = this.palette.faint(`${seconds.padStart(CLOCK_WIDTH - 3)} s `);
    const mark = this.paintTone(tone, MARKS[tone]);
    const name = lane ? this.paintLane(lane, padTo(who, WHO_WIDTH)) : padTo(who, WHO_WIDTH);
    const lead = tone === 'heading' ? `${mark} ` : `${mark} ${name} `;
    const rows = this.wrap(text, this.textWidth(widthOf(lead), lane)).map((row, index) => {
      const painted = this.paintText(tone, row);
      return index === 0 ? lead + painted : ' '.repeat(widthOf(lead)) + painted;
    });
    rows.forEach((row, index) => this.row(index === 0 ? time : ' '.repeat(CLOCK_WIDTH), row, lane));
  }

  private row(time: string, content: string, lane: Lane | undefined): void {
    const { laneWidth, palette } = this;
    if (laneWidth === undefined) {
      const letter = lane ? this.paintLane(lane, lane) : ' ';
      this.line(`${time}${letter} ${content}`.trimEnd());
    } else if (lane === 'B') {
      this.line(time + ' '.repeat(laneWidth) + palette.faint(GUTTER) + content);
    } else if (lane === 'A') {
      this.line(time + padTo(content, laneWidth) + palette.faint(GUTTER.trimEnd()));
    } else {
      this.line(time + content);
    }
  }

  private textWidth(lead: number, lane: Lane | undefined): number {
    if (this.laneWidth === undefined) return (this.options.columns ?? PLAIN_WIDTH) - CLOCK_WIDTH - 2 - lead;
    return (lane ? this.laneWidth : 2 * this.laneWidth + GUTTER.length) - lead;
  }

  private wrap(text: string, width: number): string[] {
    const rows: string[] = [];
    let row = '';
    for (const word of text.split(BREAK)) {
      const longer = row === '' ? word : `${row} ${word}`;
      if (row !== '' && widthOf(longer) > Math.max(width, 20)) {
        rows.push(row);
        row = word;
      } else {
        row = longer;
      }
    }
    return [...rows, row];
  }

  private paintLane(lane: Lane, text: string): string {
    return lane === 'A' ? this.palette.laneA(text) : this.palette.laneB(text);
  }

  private paintTone(tone: Tone, text: string): string {
    if (tone === 'told') return this.palette.faint(text);
    return this.paintText(tone, text);
  }

  private paintText(tone: Tone, text: string): string {
    switch (tone) {
      case 'told':
        return text;
      case 'good':
        return this.palette.good(text);
      case 'refused':
        return this.palette.refused(text);
      case 'bad':
        return this.palette.bad(text);
      case 'heading':
        return this.palette.bold(text);
    }
  }
}
