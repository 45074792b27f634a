// Chance that can be repeated: every case draws from a generator of its own, made of the seed of the run and the number of
// the case, so that one case can be run again without those before it. (fast-check shrinks and keeps trees of values; a
// million cases an hour leave no time for that.)

export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: number, caseNumber: number) {
    this.a = seed >>> 0;
    this.b = Math.imul(caseNumber + 1, 0x9e3779b1) >>> 0;
    this.c = Math.floor(caseNumber / 2 ** 32) ^ 0xdeadbeef;
    for (let round = 0; round < 12; round += 1) this.word();
  }

  /** sfc32: 32 bits at a time, passes the usual test batteries. */
  private word(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum;
    this.c |= 0;
    return sum >>> 0;
  }

  /** From 0, below 1. */
  fraction(): number {
    return this.word() / 2 ** 32;
  }

  /** From 0, below `below`. */
  below(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('nothing to pick from');
    return items[this.below(items.length)] as Item;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** Of code units of all sorts, mostly printable. */
  text(length: number): string {
    const unit = () => (this.chance(0.9) ? this.between(0x20, 0x7e) : this.below(0xd800));
    return String.fromCharCode(...Array.from({ length }, unit));
  }
}
