// JSON values as the schemas see them: plain objects, and a key under which equal values are equal.

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Two JSON values are equal exactly when their keys are; member order does not count (`uniqueItems`). */
export function equalityKey(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(equalityKey).join(',')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${equalityKey(value[name])}`);
    return `{${members.join(',')}}`;
  }
  return String(value); // numbers (0 and -0 alike), true, false, null
}

export function hasOnlyUniqueItems(items: readonly unknown[]): boolean {
  if (items.length < 2) return true;
  return new Set(items.map(equalityKey)).size === items.length;
}

/** Length as JSON Schema counts it: code points, not UTF-16 units. */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      length -= 1;
      index += 1;
    }
  }
  return length;
}
