// base64url of RFC 4648 in its one canonical spelling: URL alphabet, no padding, zero spare bits (MWP-FND-007a).

export function encodeBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/** The bytes, or undefined for any other spelling of them. */
export function decodeBase64url(text: string): Uint8Array | undefined {
  // Node decodes leniently; only the canonical spelling comes back unchanged.
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
