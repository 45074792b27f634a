// Chance that can be repeated: one seed, and from it a stream of numbers for each purpose.

export class Chance {
  private state: number;

  /** `purpose` keeps the streams of one seed apart, so that a new use of chance does not move the old ones. */
  constructor(seed: number, purpose: string) {
    this.state = seed >>> 0;
    for (const character of purpose) this.state = Math.imul(this.state ^ character.charCodeAt(0), 0x01000193) >>> 0;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** Whole, from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  isLucky(share: number): boolean {
    return this.next() < share;
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.whole(0, values.length - 1)] as Value;
  }

  /** At most so many of them, in their order. */
  some<Value>(values: readonly Value[], most: number): Value[] {
    const left = [...values.keys()];
    while (left.length > most) left.splice(this.whole(0, left.length - 1), 1);
    return left.map((at) => values[at] as Value);
  }
}
