// A Map that forgets its oldest entry when full. Nothing in it may be the only copy of anything.

export class BoundedCache<Value> {
  private readonly entries = new Map<string, Value>();
  private readonly maximum: number;

  /** `maximum`: entries kept. */
  constructor(maximum: number) {
    this.maximum = maximum;
  }

  get(key: string): Value | undefined {
    return this.entries.get(key);
  }

  set(key: string, value: Value): void {
    this.entries.delete(key);
    if (this.entries.size >= this.maximum) {
      const oldest = this.entries.keys().next();
      if (!oldest.done) this.entries.delete(oldest.value);
    }
    this.entries.set(key, value);
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}
