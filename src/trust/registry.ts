// One Organization's whole Registry at one revision, folded from its log entry by entry and validated as it grows
// (MWP-SDV-008): whoever holds it knows every binding there is, so that absence and uniqueness are proven, not guessed.
import { z } from 'zod';
import type { Principal } from '../protocol/principals.ts';
import { principalKey } from '../protocol/principals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import { chainedHash, registryHash, type RegistryEntry } from '../wire/registry-log.ts';
import { identityFault, validateBinding, validateHistoryAppend } from './bindings.ts';
import type { KeyBinding } from './evidence.ts';

/** Is this the seal that this service put on the entry? */
export type CheckSeal = (organizationId: string, revision: number, hash: string, seal: string) => boolean;

/** Why a Registry cannot be had from its log. */
export interface LogFault {
  readonly outcome: 'corrupt' | 'incomplete';
  readonly reason: string;
}

/** Some entries of the log beyond a revision, oldest first, and the revision that the whole is at. */
export type ReadLog = (
  revision: number,
) => Promise<{ readonly registryRevision: number; readonly entries: readonly RegistryEntry[] }>;

/**
 * Folds what the log has beyond the Registry's revision. What the log does not tell cannot be known to be absent
 * (MWP-SDV-009), so one that ends early is a fault. Answers the revision that was current at the last look.
 */
export async function followLog(
  registry: Registry,
  readLog: ReadLog,
): Promise<LogFault | { readonly current: number }> {
  for (;;) {
    const { registryRevision: current, entries } = await readLog(registry.revision);
    for (const entry of entries) {
      const reason = registry.add(entry);
      if (reason !== undefined) return { outcome: 'corrupt', reason };
    }
    if (registry.revision >= current) return { current };
    if (entries.length === 0) {
      return { outcome: 'incomplete', reason: `the log ends at ${registry.revision} of ${current}` };
    }
  }
}

const principalShape = z.strictObject({ type: z.enum(['agent', 'human', 'service']), id: z.string() });
const organizationShape = z.strictObject({
  organizationId: z.string(),
  slug: z.string(),
  displayName: z.string(),
  createdAt: z.string(),
  authority: principalShape,
  identity: principalShape,
  registrar: principalShape,
});
const changesShape = z.strictObject({
  organization: organizationShape.optional(),
  principals: z.array(z.strictObject({ principal: principalShape, displayName: z.string() })).default([]),
  bindings: z
    .array(
      z.strictObject({
        keyId: z.string(),
        principal: principalShape,
        algorithm: z.literal('Ed25519'),
        publicKey: z.string(),
        validFrom: z.string(),
      }),
    )
    .default([]),
  validity: z
    .array(
      z.strictObject({
        keyId: z.string(),
        sequence: z.int().min(1),
        recordedAt: z.string(),
        validUntil: z.string().exactOptional(),
        revokedAt: z.string().exactOptional(),
      }),
    )
    .default([]),
  policies: z.array(z.strictObject({ version: z.int(), document: z.string() })).default([]),
});
type Changes = z.infer<typeof changesShape>;

export interface RecordedPolicy {
  readonly version: number;
  readonly document: string;
  readonly recordedAt: string;
}

export type RegisteredOrganization = z.infer<typeof organizationShape>;

export class Registry {
  readonly organizationId: string;
  /** Of the last entry; 0 before the first. */
  revision = 0;
  /** Of the chain, at this revision. */
  hash: string | undefined;
  organization: RegisteredOrganization | undefined;
  /** The first entry is of what was registered before there was a log: nobody vouches for it. */
  beginsUnsealed = false;
  firstRevision = 0;
  readonly principals = new Map<string, { principal: Principal; displayName: string }>();
  /** By version, oldest first. */
  readonly policies = new Map<number, RecordedPolicy>();
  private readonly bindings = new Map<string, KeyBinding>();
  private readonly keyIdOf = new Map<string, string>();
  private readonly keyIdsOf = new Map<string, string[]>();
  private readonly checkSeal: CheckSeal | undefined;

  /** Without `checkSeal` every point is checked here, since nobody shows that it is what was registered. */
  constructor(organizationId: string, checkSeal?: CheckSeal) {
    this.organizationId = organizationId;
    this.checkSeal = checkSeal;
  }

  get size(): number {
    return this.bindings.size;
  }

  /** undefined: proven absent at this revision. */
  binding(keyId: string): KeyBinding | undefined {
    return this.bindings.get(keyId);
  }

  bindingOfPublicKey(publicKey: string): KeyBinding | undefined {
    const keyId = this.keyIdOf.get(publicKey);
    return keyId === undefined ? undefined : this.bindings.get(keyId);
  }

  bindingsOf(principal: Principal): KeyBinding[] {
    return (this.keyIdsOf.get(principalKey(principal)) ?? []).flatMap((keyId) => this.bindings.get(keyId) ?? []);
  }

  all(): Iterable<KeyBinding> {
    return this.bindings.values();
  }

  /** The policy that was the current one then; before the first there is the first, since nothing is known of less. */
  policyAt(time: string): RecordedPolicy | undefined {
    const recorded = [...this.policies.values()];
    return recorded.findLast(({ recordedAt }) => compareTimestamps(recordedAt, time) <= 0) ?? recorded[0];
  }

  /** Folds the next entry. A sentence where it cannot be believed; then nothing of this Registry can be. */
  add(entry: RegistryEntry): string | undefined {
    const isFirst = this.hash === undefined;
    if (isFirst ? entry.revision < 1 : entry.revision !== this.revision + 1) {
      return `revision ${entry.revision} does not follow ${this.revision}`;
    }
    const isUnsealedStart = isFirst && entry.hash === '' && entry.seal === '';
    if (!isUnsealedStart) {
      if (isFirst && entry.revision !== 1) return `the log begins at revision ${entry.revision}`;
      if (registryHash(this.organizationId, this.hash, entry) !== entry.hash) {
        return `the chain breaks at revision ${entry.revision}`;
      }
      if (this.checkSeal && !this.checkSeal(this.organizationId, entry.revision, entry.hash, entry.seal)) {
        return `revision ${entry.revision} was not sealed by this service`;
      }
    }
    const changes = readChanges(entry.changes);
    if (!changes) return `the changes of revision ${entry.revision} cannot be read`;
    const fault = this.fold(changes, entry.recordedAt, !isUnsealedStart && this.checkSeal !== undefined);
    if (fault !== undefined) return `revision ${entry.revision}: ${fault}`;
    if (isFirst && this.organization?.organizationId !== this.organizationId) return 'the log is of no Organization';
    this.revision = entry.revision;
    this.hash = chainedHash(this.organizationId, entry);
    if (isFirst) this.firstRevision = entry.revision;
    this.beginsUnsealed ||= isUnsealedStart;
    return undefined;
  }

  private fold(changes: Changes, recordedAt: string, arePointsChecked: boolean): string | undefined {
    const { organization, principals, bindings, validity, policies } = changes;
    if (organization) {
      if (this.organization) return 'the Organization is made twice';
      this.organization = organization;
    }
    for (const row of principals) this.principals.set(principalKey(row.principal), row);
    for (const declared of bindings) {
      const fault = this.bind({ ...declared, history: [] }, arePointsChecked);
      if (fault !== undefined) return `binding ${declared.keyId}: ${fault}`;
    }
    for (const { keyId, ...record } of validity) {
      const binding = this.bindings.get(keyId);
      if (!binding) return `validity of the unknown key ${keyId}`;
      const fault = validateHistoryAppend(binding, record);
      if (fault !== undefined) return `binding ${keyId}: ${fault}`;
      this.bindings.set(keyId, { ...binding, history: [...binding.history, record] });
    }
    for (const { version, document } of policies) {
      if (this.policies.has(version)) return `policy ${version} is made twice`;
      this.policies.set(version, { version, document, recordedAt });
    }
    return undefined;
  }

  private bind(binding: KeyBinding, isPointChecked: boolean): string | undefined {
    const fault = isPointChecked ? identityFault(binding) : validateBinding(binding);
    if (fault !== undefined) return fault;
    if (this.bindings.has(binding.keyId)) return 'key-id-reused';
    if (this.keyIdOf.has(binding.publicKey)) return 'public-key-already-bound';
    const holder = principalKey(binding.principal);
    if (!this.principals.has(holder)) return 'principal-unknown';
    this.bindings.set(binding.keyId, binding);
    this.keyIdOf.set(binding.publicKey, binding.keyId);
    const keyIds = this.keyIdsOf.get(holder);
    if (keyIds) keyIds.push(binding.keyId);
    else this.keyIdsOf.set(holder, [binding.keyId]);
    return undefined;
  }
}

function readChanges(text: string): Changes | undefined {
  try {
    const parsed = changesShape.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
