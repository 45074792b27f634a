// Free text out of a payload, salted commitments in (design section 8). What is folded and hashed holds commitments
// only, so text can be erased later without a change of state, hash or order.
import { canonicalHash } from './canonical.ts';

export interface Commitment {
  commitment: string;
}

export interface CommittedPayload {
  /** The payload with a commitment in place of each erasable member; shares what it did not change. */
  payload: Record<string, unknown>;
  /** What was taken out, by commitment. */
  texts: Map<string, unknown>;
}

/** In full: what state holds as free JSON may look like one, and a store cannot look up every text (a NUL). */
const COMMITMENT = /^sha256:[0-9a-f]{64}$/;

export function isCommitment(value: unknown): value is Commitment {
  if (typeof value !== 'object' || value === null) return false;
  const { commitment } = value as Partial<Commitment>;
  return Object.keys(value).length === 1 && typeof commitment === 'string' && COMMITMENT.test(commitment);
}

/**
 * Paths are member names joined by dots, `*` for every array element or object member. The salt is the payload's own
 * `contentSalt`. Only a rendition holds commitments already, and nothing else in their places: elsewhere a member that
 * merely looks like one is free JSON and is committed like any other, or a sender could name a text of somebody else's.
 */
export function commitPayload(
  payload: Record<string, unknown>,
  erasable: readonly string[],
  options: { rendition?: boolean } = {},
): CommittedPayload {
  const texts = new Map<string, unknown>();
  const salt = payload['contentSalt'];
  const commit = (path: string, value: unknown): Commitment => {
    if (options.rendition) return readCommitment(path, value);
    if (typeof salt !== 'string') throw new Error(`erasable text without contentSalt at ${path}`);
    const commitment = canonicalHash({ path, salt, value });
    texts.set(commitment, value);
    return { commitment };
  };
  let committed: unknown = payload;
  for (const path of erasable) committed = replaceAt(committed, path.split('.'), [], commit);
  return { payload: committed as Record<string, unknown>, texts };
}

/**
 * The payload as a rendition carries it: a commitment in place of each erasable member, and no salt, because with it a short
 * text can be guessed. In place of a text it is spelled as bare text, since the protocol's schemas know nothing else there; in
 * place of free JSON it is an object. With `rendition`, `commitPayload` reads both.
 */
export function renderPayload(payload: Record<string, unknown>, erasable: readonly string[]): Record<string, unknown> {
  const { payload: committed, texts } = commitPayload(payload, erasable);
  const { contentSalt: _salt, ...rest } = committed;
  const isText = (commitment: string) => typeof texts.get(commitment) === 'string';
  return spellCommitments(rest, erasable, isText);
}

/** Commitments in these places as bare text. */
export function spellCommitments<Value extends object>(
  committed: Value,
  paths: readonly string[],
  isText: (commitment: string) => boolean = () => true,
): Value {
  let spelled: unknown = committed;
  const spell = (_path: string, value: unknown) =>
    isCommitment(value) && isText(value.commitment) ? value.commitment : value;
  for (const path of paths) spelled = replaceAt(spelled, path.split('.'), [], spell);
  return spelled as Value;
}

function readCommitment(path: string, value: unknown): Commitment {
  if (isCommitment(value)) return value;
  if (typeof value === 'string' && COMMITMENT.test(value)) return { commitment: value };
  throw new Error(`no commitment at ${path} of a rendition`);
}

/** Does the payload hold anything erasable, so that it needs a salt? */
export function holdsErasable(payload: Record<string, unknown>, erasable: readonly string[]): boolean {
  let found = false;
  for (const path of erasable) {
    replaceAt(payload, path.split('.'), [], () => {
      found = true;
      return { commitment: '' };
    });
  }
  return found;
}

function replaceAt(
  value: unknown,
  names: readonly string[],
  walked: readonly string[],
  replace: (path: string, value: unknown) => unknown,
): unknown {
  const [name, ...rest] = names;
  if (name === undefined) return replace(walked.join('.'), value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (name !== '*') return value;
    return value.map((element, position) => replaceAt(element, rest, [...walked, String(position)], replace));
  }
  const members = name === '*' ? Object.keys(value) : [name];
  const replaced: Record<string, unknown> = { ...value };
  for (const member of members) {
    if (!Object.hasOwn(value, member)) continue;
    const old = (value as Record<string, unknown>)[member];
    if (old !== undefined) replaced[member] = replaceAt(old, rest, [...walked, member], replace);
  }
  return replaced;
}

/** Puts texts back in place of the commitments that they belong to; what was erased stays a commitment. */
export function restoreTexts(value: unknown, textOf: (commitment: string) => unknown): unknown {
  if (isCommitment(value)) {
    const text = textOf(value.commitment);
    return text === undefined ? value : text; // a text may be null: free JSON of a `data_ref`
  }
  if (Array.isArray(value)) return value.map((element) => restoreTexts(element, textOf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, restoreTexts(member, textOf)]));
}

/** All commitments in a document, so that their texts can be fetched in one go. */
export function commitmentsIn(value: unknown, found: string[] = []): string[] {
  if (isCommitment(value)) found.push(value.commitment);
  else if (Array.isArray(value)) for (const element of value) commitmentsIn(element, found);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) commitmentsIn(member, found);
  return found;
}
