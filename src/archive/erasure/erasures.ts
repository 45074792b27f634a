// Destroys what is marked as erased (decision 33): renditions first, because they need the originals; then all bodies in one
// transaction; then what held them beside the rows; then what the database keeps of deleted bytes. Each step stands in the
// database, so whoever ends anywhere is followed by whoever looks next.
import type { OrganizationId } from '../../protocol/ids.ts';
import {
  passUnwatched,
  StoreFault,
  type AuthorityStore,
  type OrganizationRow,
  type PassPoint,
} from '../../store/port.ts';
import type { ErasureRow, ErasureState, TakenBodies } from '../../store/port/erasures.ts';
import { removeLeftovers, type ErasedKeys } from './leftovers.ts';
import type { ErasureBlobs, Renderer } from './ports.ts';
import { sealAnew } from './seal-anew.ts';
import { marksOf, whereabouts } from './whereabouts.ts';

/** Erasures read in one go. */
const PAGE = 100;
/** Of finding out again where the bodies lie, when somebody seals at the same time. */
const ATTEMPTS_MAXIMUM = 5;

export interface ErasureParts {
  /** Rows as they lie: one that opens no segment. */
  store: AuthorityStore;
  blobs: ErasureBlobs;
  renditions: Renderer;
  pass?: PassPoint;
}

export interface ErasureDone {
  organization: OrganizationRow;
  groupId: string;
  orderedBy: string;
  /** How far it has come now. */
  state: ErasureState;
}

/** Told of each step that is done, and of each that failed: the next look begins it again. */
export interface ErasureTold {
  done: (step: ErasureDone) => void;
  failed: (error: unknown, about: Omit<ErasureDone, 'state'>) => void;
}

/** Takes out and removes all that waits in one Organization. Rejects where that cannot be read. False: something is left. */
export async function eraseDue(
  parts: ErasureParts,
  organization: OrganizationRow,
  { done, failed }: ErasureTold,
): Promise<boolean> {
  const { organizationId } = organization;
  let isAll = true;
  for (const [state, step] of [
    ['due', takeOut],
    ['taken', remove],
  ] as const) {
    for await (const erasure of inState(parts.store, organizationId, state)) {
      const { groupId, orderedBy } = erasure;
      try {
        await step(parts, organization, erasure);
        done({ organization, groupId, orderedBy, state: state === 'due' ? 'taken' : 'removed' });
      } catch (error) {
        isAll = false;
        failed(error, { organization, groupId, orderedBy });
      }
    }
  }
  return isAll;
}

/** Of these Organizations, what is removed and can be scrubbed from in here. Rejects with what stands in the way. */
export async function scrubRemoved(
  { store }: Pick<ErasureParts, 'store'>,
  organizations: Iterable<OrganizationRow>,
  { done }: Pick<ErasureTold, 'done'>,
): Promise<void> {
  const { scrubbing } = store.erasures;
  if (!scrubbing) return;
  const removed: [OrganizationRow, ErasureRow][] = [];
  for (const organization of organizations)
    for await (const erasure of inState(store, organization.organizationId, 'removed'))
      removed.push([organization, erasure]);
  if (removed.length === 0) return;
  await scrubbing.scrub();
  for (const [organization, { groupId, orderedBy }] of removed) {
    await scrubbing.scrubbed(organization.organizationId, orderedBy);
    done({ organization, groupId, orderedBy, state: 'scrubbed' });
  }
}

async function* inState(
  { erasures }: Pick<AuthorityStore, 'erasures'>,
  organizationId: OrganizationId,
  state: ErasureState,
): AsyncGenerator<ErasureRow> {
  for (let after = ''; ;) {
    const page = await erasures.inState(organizationId, state, after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.orderedBy ?? '';
  }
}

async function takeOut(parts: ErasureParts, organization: OrganizationRow, erasure: ErasureRow): Promise<void> {
  const { store, renditions, pass = passUnwatched } = parts;
  const { organizationId } = organization;
  for (let attempt = 1; attempt <= ATTEMPTS_MAXIMUM; attempt += 1) {
    const marks = await store.read(organizationId, (reader) => marksOf(reader, erasure));
    const unrendered = marks.filter(({ rendition }) => rendition === undefined);
    if (unrendered.length > 0) await renditions.make(organization, unrendered);
    pass('erasure-rendered');
    const eventIds = [...new Set(marks.map(({ eventId }) => eventId))];
    const taken = await gather(parts, organizationId, erasure, eventIds);
    pass('erasure-stored');
    if (await store.erasures.take(organizationId, erasure.orderedBy, taken)) return pass('erasure-taken');
    await discard(parts, organizationId, erasure, taken);
    // Somebody else was there first.
    if ((await store.erasures.state(organizationId, erasure.orderedBy)) !== 'due') return;
  }
  throw new StoreFault('busy', `what ${erasure.orderedBy} erases lay elsewhere each time`);
}

/** The segments without them are stored when this resolves. */
async function gather(
  parts: ErasureParts,
  organizationId: OrganizationId,
  erasure: ErasureRow,
  eventIds: readonly string[],
): Promise<TakenBodies> {
  const { segments, ...found } = await parts.store.read(organizationId, (reader) =>
    whereabouts(reader, erasure, eventIds),
  );
  const taken: TakenBodies = { ...found, segments: [] };
  for (const concerned of segments.values()) {
    const { segment, documents } = await sealAnew(parts, organizationId, concerned);
    if (segment) taken.segments.push(segment);
    taken.documents.push(...documents);
  }
  return { ...taken, documents: [...new Set(taken.documents)] };
}

/**
 * What was stored in vain may hold words that somebody else has erased meanwhile. Only where the row has moved on can nobody
 * name it any more.
 */
async function discard(
  { store, blobs }: ErasureParts,
  organizationId: OrganizationId,
  { groupId }: ErasureRow,
  { segments }: TakenBodies,
): Promise<void> {
  for (const { position, before, hash } of segments) {
    const row = await store.read(organizationId, (reader) => reader.segmentAt(groupId, position));
    if (row && row.hash !== before && row.hash !== hash) await blobs.remove(organizationId, hash);
  }
}

async function remove(parts: ErasureParts, organization: OrganizationRow, erasure: ErasureRow): Promise<void> {
  const { store, blobs, pass = passUnwatched } = parts;
  const { organizationId } = organization;
  const erased = await store.read(organizationId, async (reader): Promise<ErasedKeys> => {
    const marks = await marksOf(reader, erasure);
    const commands = new Set<string>();
    for (let at = 0; at < marks.length; at += PAGE) {
      const ids = marks.slice(at, at + PAGE).map(({ eventId }) => eventId);
      for (const { commandHash } of await reader.eventsById(ids)) commands.add(commandHash);
    }
    return { groupId: erasure.groupId, events: new Set(marks.map(({ position }) => position)), commands };
  });
  await removeLeftovers({ store, blobs }, organizationId, { before: erasure.blobs, erased });
  pass('erasure-removed');
  await store.erasures.removed(organizationId, erasure.orderedBy);
}
