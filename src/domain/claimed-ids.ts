// Ids and principals that a document claims before it is known to be well-formed. Reads are named that early, so what is
// no id must stop here: a store may not take it (a NUL), and turning it into a text can throw (a hidden `toString`).
import { actor, id } from '../protocol/documents/shapes.ts';
import type { Principal } from '../protocol/principals.ts';

/** The id; '' for anything else, under which nothing is stored. Content hashes are absolute URIs in form, too. */
export function claimedId(value: unknown): string {
  return isClaimedId(value) ? value : '';
}

export function isClaimedId(value: unknown): value is string {
  return id.safeParse(value).success;
}

export function claimedPrincipal(value: unknown): Principal | undefined {
  return actor.safeParse(value).data;
}
