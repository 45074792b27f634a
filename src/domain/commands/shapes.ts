// Building blocks of payload schemas. Payloads are ours to shape (commands.md 0.1): closed objects, null means absent.
import { z } from 'zod';
import { text } from '../../protocol/documents/shapes.ts';
import { claimedId } from '../claimed-ids.ts';

/** The reference's clients write null for what is absent (commands.md (n)). */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A closed payload. Any Command may bring a `contentSalt` for its own text (design section 8). */
export function payload<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ ...shape, contentSalt: optional(z.string().min(16).max(128)) });
}

/** Lease and window lengths: one second to a year; policy maxima shorten what is granted. */
export const seconds = z.int().min(1).max(31_536_000);

export const epoch = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
export const amount = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Lengths of the normative documents. */
export const reason = text(1, 4_000);
export const title = text(1, 500);

/** An id inside an embedded document, for reads made before that document is known to be well-formed. */
export function embeddedId(document: Record<string, unknown>, member: string): string {
  return claimedId(document[member]);
}
