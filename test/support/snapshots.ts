// Snapshots over a Tenant: blobs in memory that can be looked at and spoilt, and what a member restores from.
import { createHash } from 'node:crypto';
import type { SnapshotBlobs, Snapshots } from '../../src/archive/snapshot/ports.ts';
import { stateStream } from '../../src/archive/snapshot/stream.ts';
import { createSnapshots } from '../../src/archive/snapshot/take.ts';
import { BlobFault } from '../../src/store/port/blobs.ts';
import type { AuthorityStore, SnapshotRow } from '../../src/store/port.ts';
import { evidenceFromSnapshot, registrySnapshot } from '../../src/trust/registry-snapshot.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import type { ExpectedSnapshot, OfferedSnapshot } from '../../src/worker/restore.ts';
import type { Tenant } from './tenant.ts';

/** As the port promises: apart for each Organization, the hash checked on every read. */
export class MemoryBlobs implements SnapshotBlobs {
  readonly kept = new Map<string, Buffer>();

  async put(organizationId: string, bytes: AsyncIterable<Uint8Array>): Promise<{ hash: string; size: number }> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    const whole = Buffer.concat(chunks);
    const hash = labelOf(whole);
    this.kept.set(`${organizationId} ${hash}`, whole);
    return { hash, size: whole.length };
  }

  async get(organizationId: string, hash: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = this.kept.get(`${organizationId} ${hash}`);
    return found && checked(found, hash);
  }

  async size(organizationId: string, hash: string): Promise<number | undefined> {
    return this.kept.get(`${organizationId} ${hash}`)?.length;
  }

  async remove(organizationId: string, hash: string): Promise<void> {
    this.kept.delete(`${organizationId} ${hash}`);
  }

  hashes(): string[] {
    return [...this.kept.keys()].map((key) => key.split(' ')[1] as string);
  }
}

async function* checked(bytes: Buffer, hash: string): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 10);
  if (labelOf(bytes) !== hash) throw new BlobFault('corrupt', `${hash} is not what its address says`);
  yield bytes.subarray(10);
}

function labelOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export function snapshotsOf(tenant: Tenant, blobs: SnapshotBlobs, store: AuthorityStore = tenant.store): Snapshots {
  const signerOf = (_: unknown, service: Parameters<Tenant['keyOf']>[0]) =>
    Promise.resolve(tenant.keyOf(service).signer);
  return createSnapshots({ store, blobs, signers: { signerOf } });
}

/** As a member gets it, in chunks that end anywhere. */
export async function offered(tenant: Tenant, row: SnapshotRow, blobs: SnapshotBlobs): Promise<OfferedSnapshot> {
  const { organizationId } = tenant.organization;
  const admission = await tenant.store.read(organizationId, (reader) => reader.admission(row.signingHash));
  return {
    snapshot: JSON.parse(row.body),
    admissionRecord: JSON.parse(admission?.record ?? 'null'),
    state: () => inChunks(stateStream(row, organizationId, blobs)),
  };
}

export async function* inChunks(texts: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) {
    const bytes = Buffer.from(text, 'utf8');
    for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
  }
}

export function expectedBy(tenant: Tenant, groupId: string): ExpectedSnapshot {
  const { organizationId, authority } = tenant.organization;
  const bindings = [...tenant.keys.values()].map(({ keyId, principal, publicKey }) => ({
    keyId,
    principal,
    algorithm: 'Ed25519' as const,
    publicKey,
    validFrom: '2020-01-01T00:00:00Z',
    history: [],
  }));
  return {
    organizationId,
    groupId,
    authority,
    evidence: evidenceFromSnapshot(registrySnapshot(organizationId, bindings)),
  };
}

export async function eventsAfter(tenant: Tenant, groupId: string, after: number): Promise<Event[]> {
  const rows = await tenant.store.read(tenant.organization.organizationId, async (reader) => {
    const all = [];
    for (let at = after; ;) {
      const page = await reader.events(groupId, at, 200);
      all.push(...page);
      if (page.length < 200) return all;
      at = page.at(-1)?.position ?? at;
    }
  });
  return rows.map(({ body }) => JSON.parse(body) as Event);
}
