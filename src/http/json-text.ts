// Answers that are JSON text already: signed and stored documents go out byte for byte, never through a second encoder.
import type { Context } from 'hono';
import type { Page } from '../authority/queries/page.ts';

export function jsonText(c: Context, text: string): Response {
  c.header('Content-Type', 'application/json');
  return c.body(text);
}

/** `{"items":[...],"next"?:"..."}` */
export function pageText(c: Context, { items, next }: Page): Response {
  const more = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
  return jsonText(c, `{"items":[${items.join(',')}]${more}}`);
}
