// Moves the refusals of archived Groups out of the plain record into sealed blobs, and lets go of them when their time is
// over. What waits stands in the database since the archival, so a process may end anywhere: the next look goes on.
import { isHeld, type Policy } from '../../domain/policy.ts';
import type { OrganizationId } from '../../protocol/ids.ts';
import { addSeconds } from '../../protocol/timestamps.ts';
import { passUnwatched, type AuditRow, type AuthorityStore, type PassPoint } from '../../store/port.ts';
import type { AuditRange, SealedRange } from '../../store/port/sealed-audits.ts';
import { SEAL_FORMAT, sealRecords } from './envelope.ts';
import type { AuditBlobs, AuditSeals, TenantKeyVault } from './ports.ts';
import { currentTenantKey } from './tenant-key.ts';

const PAGE = 500;
const DAY_SECONDS = 86_400;

export interface AuditSealParts {
  store: AuthorityStore;
  blobs: AuditBlobs;
  vault: TenantKeyVault;
  /** Told why a look that nobody waits for did not do all of it. */
  failed?: (organizationId: string, error: unknown) => void;
  pass?: PassPoint;
}

export function createAuditSeals(parts: AuditSealParts): AuditSeals {
  return new Sealer(parts);
}

class Sealer implements AuditSeals {
  private readonly parts: AuditSealParts;
  private readonly pass: PassPoint;
  private last: Promise<unknown> = Promise.resolve();
  /** Begun or waiting: one look more is enough for all that came meanwhile. */
  private readonly waiting = new Set<string>();
  private all: Promise<void> | undefined;
  private stopped = false;

  constructor(parts: AuditSealParts) {
    this.parts = parts;
    this.pass = parts.pass ?? passUnwatched;
  }

  look(organizationId: OrganizationId): Promise<void> {
    const turn = this.last.then(() => (this.stopped ? undefined : this.lookNow(organizationId)));
    this.last = turn.catch(() => {});
    return turn;
  }

  wake(organizationId: OrganizationId): void {
    if (this.waiting.has(organizationId)) return;
    this.waiting.add(organizationId);
    const begun = this.last.then(() => this.waiting.delete(organizationId));
    this.last = begun;
    this.look(organizationId).catch((error: unknown) => this.parts.failed?.(organizationId, error));
  }

  wakeAll(): void {
    this.all ??= this.lookAtAll().catch((error: unknown) => this.parts.failed?.('', error));
  }

  private async lookAtAll(): Promise<void> {
    for (let after = ''; !this.stopped;) {
      const page = await this.parts.store.organizations.all(after, PAGE);
      for (const { organizationId } of page) {
        await this.look(organizationId).catch((error: unknown) => this.parts.failed?.(organizationId, error));
      }
      if (page.length < PAGE) return;
      after = page.at(-1)?.slug ?? '';
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([this.last, this.all]);
  }

  private async lookNow(organizationId: OrganizationId): Promise<void> {
    const { sealedAudits, organizations } = this.parts.store;
    const faults: unknown[] = [];
    await eachPage(
      (after) => sealedAudits.due(organizationId, after, PAGE),
      (range) => this.sealAudit(organizationId, range).catch((error: unknown) => faults.push(error)),
      () => this.stopped,
    );
    const policy = await organizations.policy(organizationId);
    const before = addSeconds(await organizations.now(), -policy.auditRetentionDays * DAY_SECONDS);
    await eachPage(
      (after) => sealedAudits.expired(organizationId, before, after, PAGE),
      (sealed) => this.purge(organizationId, sealed, policy).catch((error: unknown) => faults.push(error)),
      () => this.stopped,
    );
    if (faults.length > 0) throw faults[0];
  }

  /** Blob first, then one transaction: wherever it ends, the record is whole in one place or the other. */
  private async sealAudit(organizationId: OrganizationId, due: AuditRange): Promise<void> {
    const { store, blobs, vault } = this.parts;
    const rows = await this.rowsOf(organizationId, due);
    this.pass('audit-seal-begun');
    const [first, last] = [rows[0], rows.at(-1)];
    // All of it went by its age, or to make room, before it was sealed; or another process has just sealed it.
    if (!first || !last) return store.sealedAudits.purge(organizationId, due.groupId, 'due');
    const { version: keyVersion, key } = await currentTenantKey(store.sealedAudits, vault, organizationId);
    const range: SealedRange = {
      groupId: due.groupId,
      records: rows.length,
      firstId: first.id,
      lastId: last.id,
      lastRecordedAt: last.recordedAt,
      format: SEAL_FORMAT,
      keyVersion,
    };
    const { bytes, wrappedKey } = sealRecords(rows, { ...range, organizationId }, key);
    const { hash: blobHash } = await blobs.put(organizationId, once(bytes));
    this.pass('audit-blob-stored');
    const isDone = await store.sealedAudits.complete(organizationId, { ...range, wrappedKey, blobHash });
    this.pass('audit-sealed');
    // Another process was first, with a key of its own: nobody can open ours.
    if (!isDone) await blobs.remove(organizationId, blobHash);
  }

  private rowsOf(organizationId: OrganizationId, { groupId, firstId, lastId }: AuditRange): Promise<AuditRow[]> {
    return this.parts.store.read(organizationId, async (reader) => {
      const rows: AuditRow[] = [];
      for (let after = firstId - 1; after < lastId;) {
        const page = await reader.audit(after, PAGE, groupId);
        rows.push(...page.filter(({ id }) => id <= lastId));
        if (page.length < PAGE) break;
        after = page.at(-1)?.id ?? lastId;
      }
      return rows;
    });
  }

  /** The key goes first: what is left of a blob after that opens for nobody. */
  private async purge(
    organizationId: OrganizationId,
    { groupId, blobHash }: { groupId: string; blobHash: string },
    policy: Policy,
  ): Promise<void> {
    if (isHeld(policy, groupId)) return;
    await this.parts.store.sealedAudits.purge(organizationId, groupId, 'sealed');
    await this.parts.blobs.remove(organizationId, blobHash);
  }
}

async function eachPage<Row extends { groupId: string }>(
  read: (afterGroupId: string) => Promise<Row[]>,
  work: (row: Row) => Promise<unknown>,
  isStopped: () => boolean,
): Promise<void> {
  for (let after = ''; ;) {
    const page = await read(after);
    for (const row of page) {
      if (isStopped()) return;
      await work(row);
    }
    if (page.length < PAGE) return;
    after = page.at(-1)?.groupId ?? '';
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
