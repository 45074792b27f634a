// PUT and GET /content/{contentHash}: bytes by their hash, in and out piece by piece. Nothing of them is ever looked at but
// their hash and their number.
import { Hono, type Context } from 'hono';
import type { Logger } from '../../platform/logger.ts';
import type { Principal } from '../../protocol/principals.ts';
import { refuse } from '../../protocol/refusals.ts';
import type { AuthorityStore } from '../../store/port.ts';
import { BlobFault, type BlobStore } from '../../store/port/blobs.ts';
import type { UploadQuota } from '../../store/port/uploads.ts';
import { checkBytesHead, streamedBytes, tooLarge } from '../bodies.ts';
import { fail, HttpRefusal, notFound } from '../errors.ts';
import { declared } from '../openapi/operation.ts';
import { grantPatience } from '../patience.ts';
import type { TenantEnv } from '../tenancy.ts';
import { namesOf } from '../watching.ts';
import { answerBytes } from './answer.ts';
import { GET_CONTENT, putContent } from './operations.ts';
import { isActiveMember, mayRead } from './readable.ts';
import { Transfers } from './transfers.ts';

export interface ContentParts {
  store: AuthorityStore;
  blobs: BlobStore;
  logger: Logger;
  /** Of one content. */
  contentBytesMaximum: number;
  /** Of what one principal has put and not published. */
  uploadQuota: UploadQuota;
}

const HASH = /^sha256:[0-9a-f]{64}$/;

export function contentRoutes(parts: ContentParts): Hono<TenantEnv> {
  const transfers = new Transfers();
  const routes = new Hono<TenantEnv>();
  routes.put(
    '/content/:contentHash',
    declared(putContent(parts.contentBytesMaximum), (c) => put(c, parts, transfers)),
  );
  routes.get(
    '/content/:contentHash',
    declared(GET_CONTENT, (c) => get(c, parts, transfers)),
  );
  return routes;
}

async function put(c: Context<TenantEnv>, parts: ContentParts, transfers: Transfers): Promise<Response> {
  const { store, contentBytesMaximum } = parts;
  const { organizationId } = c.get('organization');
  const { principal } = c.get('bearer');
  const size = checkBytesHead(c, contentBytesMaximum) ?? contentBytesMaximum;
  const hash = c.req.param('contentHash') ?? '';
  if (!HASH.test(hash)) throw fail('INVALID_COMMAND', 'a content hash is sha256: and 64 lower-case hex digits');
  if (!(await store.read(organizationId, (reader) => isActiveMember(reader, principal)))) {
    throw fail('MEMBERSHIP_REQUIRED', 'only active members of a Group put contents');
  }
  const refusal = transfers.refusal({ organizationId, principal });
  if (refusal) throw new HttpRefusal(refusal);
  const ended = transfers.begin({ organizationId, principal });
  try {
    return await receive(c, parts, { principal, hash, size });
  } finally {
    ended();
  }
}

/** Reserved before the first byte and completed after the last, so that what lies on the disk is always counted. */
async function receive(
  c: Context<TenantEnv>,
  parts: ContentParts,
  upload: { principal: Principal; hash: string; size: number },
): Promise<Response> {
  const { store, blobs, contentBytesMaximum, uploadQuota } = parts;
  const { organizationId } = c.get('organization');
  const { hash } = upload;
  const reservation = await store.uploads.reserve(organizationId, upload, uploadQuota);
  if (!reservation.reserved) {
    const limit = `unpublished_content_${reservation.limit}`;
    const details = { limit, maximum: uploadQuota[reservation.limit] };
    throw new HttpRefusal(refuse('RATE_LIMITED', 'too much was put and not published', { details }));
  }
  grantPatience(c);
  const options = { expectedHash: hash, bytesMaximum: contentBytesMaximum };
  const stored = await blobs.put(organizationId, streamedBytes(c), options).catch(async (error: unknown) => {
    // Where this fails, too, the reservation counts until it is over.
    await store.uploads.release(organizationId, upload).catch(() => undefined);
    throw explained(error, contentBytesMaximum);
  });
  const { size } = stored;
  const which = await store.uploads.complete(organizationId, { ...upload, size });
  await sweep(c, parts);
  return c.json({ contentHash: hash, sizeBytes: size }, which === 'first' ? 201 : 200);
}

function explained(error: unknown, bytesMaximum: number): unknown {
  if (!(error instanceof BlobFault)) return error;
  if (error.kind === 'too-large') return tooLarge(bytesMaximum);
  return error.kind === 'mismatch' ? fail('INVALID_COMMAND', 'the bytes have another hash than the path says') : error;
}

/** What is over in this Organization goes now that somebody is here. Not the fault of who put something. */
async function sweep(c: Context<TenantEnv>, { store, blobs, logger }: ContentParts): Promise<void> {
  const { organizationId } = c.get('organization');
  try {
    await store.uploads.sweep(organizationId, blobs);
  } catch (err) {
    logger.warn({ ...namesOf(c), tenant: organizationId, err }, 'uploads that are over could not be removed');
  }
}

async function get(c: Context<TenantEnv>, parts: ContentParts, transfers: Transfers): Promise<Response> {
  const { store, blobs, logger } = parts;
  const { organizationId } = c.get('organization');
  const { principal } = c.get('bearer');
  const contentHash = c.req.param('contentHash') ?? '';
  const isAllowed =
    HASH.test(contentHash) &&
    (await store.read(organizationId, (reader) => mayRead(reader, { principal, contentHash })));
  const size = isAllowed ? await blobs.size(organizationId, contentHash) : undefined;
  if (size === undefined) throw notFound('content');
  const read = () => blobs.get(organizationId, contentHash);
  return answerBytes(c, { contentHash, size, read, carrier: { organizationId, principal }, transfers, logger });
}
