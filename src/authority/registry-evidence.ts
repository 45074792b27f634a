// Stage-4 evidence out of the tenant's Registry, with a cache that can never be the reason for a wrong answer: only
// found bindings are kept, a binding never changes, its end only moves earlier, and the Registry revision that it was
// read at is compared again under the lock. Absence is always asked for afresh.
import type { KeyBinding, KeyEvidence, RegistryEvidence } from '../trust/evidence.ts';
import { StoreFault, type KeyEvidenceRow, type OrganizationStore } from '../store/port.ts';
import type { OrganizationId } from '../protocol/ids.ts';

/** Bindings kept per process: about 1 kB each. */
const CACHE_MAXIMUM = 20_000;

export class StoreEvidence implements RegistryEvidence {
  private readonly cached = new Map<string, { registryRevision: number; binding: KeyBinding }>();
  private readonly organizations: OrganizationStore;

  constructor(organizations: OrganizationStore) {
    this.organizations = organizations;
  }

  async resolve(organizationId: string, keyId: string): Promise<KeyEvidence> {
    const cached = this.cached.get(`${organizationId} ${keyId}`);
    if (cached) return { outcome: 'established', organizationId, ...cached };
    try {
      const rows = await this.organizations.keyEvidence(organizationId as OrganizationId, [keyId]);
      return this.established(organizationId, keyId, rows.get(keyId));
    } catch (error) {
      // A database that is gone says nothing of a key. Answered here it would be a bad signature, and final; thrown it is
      // an undecided Command, to be sent again (design section 4).
      if (!(error instanceof StoreFault) || error.kind !== 'corrupt') throw error;
      return { outcome: 'corrupt', reason: error.message };
    }
  }

  /** What the Registry holds under these key ids, read now. */
  rows(organizationId: string, keyIds: string[]): Promise<Map<string, KeyEvidenceRow>> {
    return this.organizations.keyEvidence(organizationId as OrganizationId, keyIds);
  }

  /** The Registry moved on: what was read at an earlier revision is asked for again. */
  forget(organizationId: string, currentRevision: number): void {
    for (const [key, { registryRevision }] of this.cached) {
      if (key.startsWith(`${organizationId} `) && registryRevision !== currentRevision) this.cached.delete(key);
    }
  }

  private established(organizationId: string, keyId: string, row: KeyEvidenceRow | undefined): KeyEvidence {
    if (!row) return { outcome: 'incomplete', reason: 'the Registry gave no answer for a key' };
    const { registryRevision } = row;
    if (!row.binding) return { outcome: 'established', organizationId, registryRevision, binding: undefined };
    const binding: KeyBinding = { ...row.binding, history: row.validity };
    if (this.cached.size >= CACHE_MAXIMUM) this.dropOldest();
    this.cached.set(`${organizationId} ${keyId}`, { registryRevision, binding });
    return { outcome: 'established', organizationId, registryRevision, binding };
  }

  private dropOldest(): void {
    const oldest = this.cached.keys().next();
    if (!oldest.done) this.cached.delete(oldest.value);
  }
}
