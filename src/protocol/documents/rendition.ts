// What marks an Event as a rendition: it stands in the place of an original that its reader does not get, and says in this
// extension what it stands for. The rest of it is an Event like any other.
import { z } from 'zod';
import { id, sha256, timestamp } from './shapes.ts';

/** Of the built-in Extension Profile ext.mwp.retention. The protocol's schema wants a URI for a name. */
export const RENDITION_EXTENSION = 'urn:mwp:ext.mwp.retention.rendition';
export const RENDITION_VERSION = '1.0.0';

/** Why an original is withheld. The stronger ones last. */
export const WITHHOLDING_CAUSES = ['redacted', 'erased'] as const;
export type WithholdingCause = (typeof WITHHOLDING_CAUSES)[number];

const standsFor = z.strictObject({
  /** Of the original, as the Group's chain counts it. */
  signingHash: sha256,
  /** Of the original; the rendition's own time is that of its signature. */
  occurredAt: timestamp,
  cause: z.enum(WITHHOLDING_CAUSES),
  /** A word of a closed list, never a text. */
  reasonCode: z.string().regex(/^[a-z_]{1,64}$/),
  /** The Event that ordered it. */
  orderedBy: id,
});
export type RenditionOf = z.infer<typeof standsFor>;

/** Undefined for an original. Throws for an Event that says that it is a rendition and not of what. */
export function renditionOf({
  extensions,
}: {
  extensions?: Record<string, unknown> | undefined;
}): RenditionOf | undefined {
  if (!extensions || !Object.hasOwn(extensions, RENDITION_EXTENSION)) return undefined;
  const read = standsFor.safeParse((extensions[RENDITION_EXTENSION] as { data?: unknown }).data);
  if (!read.success) throw new Error('an Event that does not say what it is a rendition of');
  return read.data;
}

/** The one extension that a rendition has: those of the original are its sender's words, and go with the text. */
export function renditionExtensions(data: RenditionOf) {
  return { [RENDITION_EXTENSION]: { version: RENDITION_VERSION, critical: false, data } };
}
