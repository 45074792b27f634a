// The answer to GET: the bytes as they come from the store, and an answer that breaks off where they are not what they
// should be. A file is open from the first byte that is asked for to the last, and no longer.
import type { Context } from 'hono';
import type { Logger } from '../../platform/logger.ts';
import { BlobFault } from '../../store/port/blobs.ts';
import { BYTES } from '../bodies.ts';
import { HttpRefusal, notFound } from '../errors.ts';
import { namesOf } from '../watching.ts';
import type { Carrier, Transfers } from './transfers.ts';

export interface Found {
  contentHash: string;
  size: number;
  read: () => Promise<AsyncIterable<Uint8Array> | undefined>;
  carrier: Carrier;
  transfers: Transfers;
  logger: Logger;
}

export async function answerBytes(c: Context, found: Found): Promise<Response> {
  const { contentHash, size, read, carrier, transfers } = found;
  const tag = { ETag: `"${contentHash}"` };
  if (isKnown(c.req.header('if-none-match'), contentHash)) return c.body(null, 304, tag);
  const head = { ...tag, 'Content-Type': BYTES, 'Content-Length': String(size) };
  if (c.req.method === 'HEAD') return c.body(null, 200, head);
  const refusal = transfers.refusal(carrier);
  if (refusal) throw new HttpRefusal(refusal);
  const bytes = await read();
  if (!bytes) throw notFound('content');
  return c.body(streamOf(bytes, c, found), 200, head);
}

/** A weak tag names the same bytes as well: these have no other form (RFC 9110, 13.1.2). */
function isKnown(ifNoneMatch: string | undefined, contentHash: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(`"${contentHash}"`);
}

/** Reads ahead of nobody: with nothing asked for nothing is opened, and a slow reader has one piece in memory. */
function streamOf(bytes: AsyncIterable<Uint8Array>, c: Context, found: Found): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  let ended: (() => void) | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        ended ??= found.transfers.begin(found.carrier);
        try {
          const piece = await iterator.next();
          if (piece.done !== true) return controller.enqueue(piece.value);
          ended();
          controller.close();
        } catch (error) {
          ended();
          report(error, c, found);
          breakOff(c, controller, error);
        }
      },
      async cancel() {
        ended?.();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

function report(err: unknown, c: Context, { contentHash, carrier, logger }: Found): void {
  const about = { ...namesOf(c), tenant: carrier.organizationId, contentHash, err };
  if (err instanceof BlobFault && err.kind === 'corrupt') logger.error(about, 'a stored content is damaged');
  else logger.warn(about, 'a stored content could not be read to its end');
}

/** The head said how many bytes come, so who gets fewer knows. On a connection it ends it; the adapter would add words. */
function breakOff(c: Context, controller: ReadableStreamDefaultController, error: unknown): void {
  const { outgoing } = (c.env ?? {}) as { outgoing?: { destroy: () => void } };
  if (!outgoing) return controller.error(error);
  outgoing.destroy();
  controller.close();
}
