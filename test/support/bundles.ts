// Exported Groups in tests: written, read back, changed, and signed anew as only a thief of the authority's key could.
import { createHash } from 'node:crypto';
import { BundleFault, type StatementLine } from '../../src/archive/bundle-lines.ts';
import { signStatement } from '../../src/archive/bundle-statement.ts';
import { exportGroup } from '../../src/archive/export-group.ts';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import type { AuthorityStore } from '../../src/store/port.ts';
import type { Tenant } from './tenant.ts';

export async function* inChunks(text: string, size = 65_536): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text, 'utf8');
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Sentences; what cannot be read on is one. Anything else that is thrown fails the test. */
export async function faultsIn(text: string, options: Parameters<typeof verifyBundle>[1] = {}): Promise<string[]> {
  try {
    return (await verifyBundle(inChunks(text), options)).sentences;
  } catch (error) {
    if (error instanceof BundleFault) return [error.message];
    throw error;
  }
}

export async function exportedText(tenant: Tenant, groupId: string, store: AuthorityStore): Promise<string> {
  const { organization } = tenant;
  const { keyId, signer } = tenant.keyOf(organization.authority);
  const exportedAt = tenant.now();
  let written = '';
  await store.read(organization.organizationId, (reader) =>
    exportGroup(reader, {
      organization,
      groupId,
      signer: { ...signer, keyId },
      exportedAt,
      write: async (more) => void (written += more),
    }),
  );
  return written;
}

/** `lines` without a statement, under one over what they are now that otherwise says what `original` says. */
export function signedAnew(tenant: Tenant, lines: readonly string[], original: string): string {
  const { signer, keyId } = tenant.keyOf(tenant.organization.authority);
  const statement = JSON.parse(original) as StatementLine;
  const { line: _line, purpose: _purpose, signature: _signature, keyId: _keyId, ...stated } = statement;
  const before = `${lines.join('\n')}\n`;
  const sha256 = createHash('sha256').update(before).digest('hex');
  const signed = signStatement({ ...stated, lines: lines.length, sha256 }, { ...signer, keyId });
  return `${before}${JSON.stringify(signed)}\n`;
}
