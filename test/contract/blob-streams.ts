// Bytes as streams, and streams as bytes: what the tests of blob stores share.
import { createHash } from 'node:crypto';

/** Of the adapters. */
export const CHUNK = 262_144;

export const hashOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export async function* pieces(bytes: Uint8Array, size = 50_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

export async function whole(stream: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  if (!stream) throw new Error('no such blob');
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** How much came before the stream failed. */
export async function upToTheFault(
  stream: AsyncIterable<Uint8Array> | undefined,
): Promise<{ bytes: number; fault: unknown }> {
  let bytes = 0;
  try {
    for await (const chunk of stream ?? []) bytes += chunk.byteLength;
    return { bytes, fault: undefined };
  } catch (fault) {
    return { bytes, fault };
  }
}
