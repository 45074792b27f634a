// What a round trip is called in metrics and traces: by the statement that it was made for, without parameters. All texts
// are the store's own, so there are few names.
import { BoundedCache } from './bounded-cache.ts';

/** Texts that are remembered; the store has fewer. */
const CACHE_MAXIMUM = 500;

export class StatementNames {
  private readonly known = new BoundedCache<string>(CACHE_MAXIMUM);

  /** Of the last statement that is not the COMMIT which travels with it. */
  of(statements: readonly { text: string }[]): string {
    const last = statements.at(-1)?.text ?? '';
    return this.nameOf(last === 'COMMIT' ? (statements.at(-2)?.text ?? last) : last);
  }

  private nameOf(text: string): string {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    // A call of one of our functions, or what is done to one of our tables.
    const called = /^\s*select\b/i.test(text) ? /\bmwp\.([a-z_]+)\s*\(/.exec(text)?.[1] : undefined;
    const done = /^\s*([a-z]+)\b[^]*?\bmwp\.([a-z_]+)/i.exec(text);
    const name =
      called ?? (done ? `${done[1]} ${done[2]}` : (/^\s*([a-z]+)/i.exec(text)?.[1] ?? 'other')).toLowerCase();
    this.known.set(text, name);
    return name;
  }
}
