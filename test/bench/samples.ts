// Figures of one point: how many a second, and how long each took.

export interface Figures {
  perSecond: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
}

/** Takes what ends within the time that is measured; before it is warm-up. */
export class Samples {
  private readonly milliseconds: number[] = [];
  private begun = Infinity;
  private ended = Infinity;

  begin(now: number): void {
    this.begun = now;
  }

  end(now: number): void {
    this.ended = Math.min(this.ended, now);
  }

  add(from: number, to: number): void {
    if (to >= this.begun && to <= this.ended) this.milliseconds.push(to - from);
  }

  get count(): number {
    return this.milliseconds.length;
  }

  figures(): Figures {
    const sorted = [...this.milliseconds].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
    return {
      perSecond: sorted.length / ((this.ended - this.begun) / 1_000),
      p50Milliseconds: at(0.5),
      p99Milliseconds: at(0.99),
    };
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
