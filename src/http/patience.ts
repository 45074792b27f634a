// Requests whose body may take longer than any other: granted by a handler that knows who asks, looked at by the listener.
import type { Context } from 'hono';

const granted = new WeakSet<object>();

/** No effect where there is no network. */
export function grantPatience(c: Context): void {
  const { incoming } = (c.env ?? {}) as { incoming?: object };
  if (incoming) granted.add(incoming);
}

export function hasPatience(incoming: object): boolean {
  return granted.has(incoming);
}
