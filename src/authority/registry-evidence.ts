// Stage-4 evidence out of the tenant's Registry: the whole of it at one revision, folded from its log once per process and
// then kept up entry by entry, never per request (MWP-SDV-008). It may lag; the accepting transaction compares the revision
// under its lock, and a refusal is told only after a look that nothing came since.
import type { OrganizationId } from '../protocol/ids.ts';
import type { KeyEvidence, RegistryEvidence } from '../trust/evidence.ts';
import { followLog, Registry, type CheckSeal, type LogFault } from '../trust/registry.ts';
import type { OrganizationStore } from '../store/port.ts';

/** Bindings kept per process, over all Organizations: about 1 kB each. */
const BINDINGS_MAXIMUM = 200_000;
/** Milliseconds that a Registry which cannot be believed is taken for that without a further look. */
const DISBELIEF_MILLISECONDS = 1_000;

export type CurrentRegistry = { readonly outcome: 'established'; readonly registry: Registry } | LogFault;

export interface EvidenceOptions {
  checkSeal?: CheckSeal;
  /** Told, at most once a second, that nothing of an Organization verifies until its Registry is put right. */
  disbelieved?: (organizationId: string, reason: string) => void;
}

interface Held {
  registry: Registry;
  fault?: LogFault & { until: number };
  /** The look that is under way; whoever comes meanwhile shares it. */
  looking?: Promise<void>;
}

export class StoreEvidence implements RegistryEvidence {
  /** The longest unused first. */
  private readonly held = new Map<string, Held>();
  private readonly organizations: Pick<OrganizationStore, 'registrySince'>;
  private readonly options: EvidenceOptions;

  constructor(organizations: Pick<OrganizationStore, 'registrySince'>, options: EvidenceOptions = {}) {
    this.organizations = organizations;
    this.options = options;
  }

  async resolve(organizationId: string, keyId: string): Promise<KeyEvidence> {
    const found = await this.registry(organizationId);
    if (found.outcome !== 'established') return found;
    const { registry } = found;
    const binding = registry.binding(keyId);
    return { outcome: 'established', organizationId, registryRevision: registry.revision, binding };
  }

  /** As this process has it: complete at its revision, which may be behind. Throws when the database is gone. */
  async registry(organizationId: string): Promise<CurrentRegistry> {
    const held = this.held.get(organizationId);
    if (held && held.registry.revision > 0 && !held.fault) {
      this.held.delete(organizationId);
      this.held.set(organizationId, held);
      return { outcome: 'established', registry: held.registry };
    }
    await this.catchUp(organizationId);
    const { registry, fault } = this.holdFor(organizationId);
    return fault ?? { outcome: 'established', registry };
  }

  /** That a judgement which begins now will see, or a later one; undefined: none is held that could be believed. */
  revisionHeld(organizationId: string): number | undefined {
    const held = this.held.get(organizationId);
    return held && !held.fault && held.registry.revision > 0 ? held.registry.revision : undefined;
  }

  /**
   * Looks now. True when the Registry has moved on since `judgedAt`, so that what was judged then may be judged otherwise:
   * also where another Command's look was first. Without it, since now.
   */
  async catchUp(organizationId: string, judgedAt?: number): Promise<boolean> {
    const held = this.holdFor(organizationId);
    if (held.fault && performance.now() < held.fault.until) return false;
    const before = held.fault ? -1 : (judgedAt ?? held.registry.revision);
    // One that began before this call may have read before it.
    await held.looking;
    held.looking ??= this.look(organizationId, held).finally(() => delete held.looking);
    await held.looking;
    return held.registry.revision !== before;
  }

  private async look(organizationId: string, held: Held): Promise<void> {
    if (held.fault) {
      held.registry = new Registry(organizationId, this.options.checkSeal);
      delete held.fault;
    }
    const followed = await followLog(held.registry, (revision) =>
      this.organizations.registrySince(organizationId as OrganizationId, revision),
    );
    if ('reason' in followed) {
      held.fault = { ...followed, until: performance.now() + DISBELIEF_MILLISECONDS };
      this.options.disbelieved?.(organizationId, followed.reason);
      return;
    }
    this.dropUnused(organizationId);
  }

  private holdFor(organizationId: string): Held {
    const held = this.held.get(organizationId) ?? { registry: new Registry(organizationId, this.options.checkSeal) };
    this.held.delete(organizationId);
    this.held.set(organizationId, held);
    return held;
  }

  private dropUnused(inUse: string): void {
    let total = 0;
    for (const { registry } of this.held.values()) total += registry.size;
    for (const [organizationId, { registry }] of this.held) {
      if (total <= BINDINGS_MAXIMUM) return;
      if (organizationId === inUse) continue;
      this.held.delete(organizationId);
      total -= registry.size;
    }
  }
}
