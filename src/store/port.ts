// What the authority needs of a database. Two adapters implement it and pass one contract suite.
// Every call begins with the tenant; nothing crosses Organizations. All times are UTC text with capital Z.
import type { AggregateIndex } from '../domain/aggregate-index.ts';
import type { AggregateKind } from '../domain/aggregates.ts';
import type { RefusalRange } from '../domain/group-record.ts';
import type { Policy } from '../domain/policy.ts';
import type { LoadedAggregate, LoadedReads, Read } from '../domain/reads.ts';
import type { AggregateChange } from '../domain/view.ts';
import type { GroupId, OrganizationId } from '../protocol/ids.ts';
import type { Principal } from '../protocol/principals.ts';
import type { BlobSpace, BlobStore } from './port/blobs.ts';
import type { ErasureStore } from './port/erasures.ts';
import type { AuditRange, SealedAuditReader, SealedAuditStore } from './port/sealed-audits.ts';
import type { SegmentReader, SegmentStore } from './port/segments.ts';
import type { Upload, UploadKey, UploadStore } from './port/uploads.ts';
import type { RenditionRow, SpokenMessage, WithheldReader, WithheldRow } from './port/withheld.ts';

/** The four ways a database says no. Adapters turn every driver error into one of these, and throw it. */
export type StoreFaultKind =
  /** A compare-and-set or a uniqueness rule did not hold although the locks should have seen to it. */
  | 'conflict'
  /** Not reachable, shutting down, out of connections, or gone after COMMIT was sent: the outcome is unknown. */
  | 'unavailable'
  /** What is stored breaks an invariant of ours. */
  | 'corrupt'
  /** The retries of a deadlock or serialization failure ran out. */
  | 'busy';

export class StoreFault extends Error {
  readonly kind: StoreFaultKind;
  constructor(kind: StoreFaultKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreFault';
    this.kind = kind;
  }
}

export interface AuthorityStore {
  readonly engine: 'sqlite' | 'postgres';
  readonly organizations: OrganizationStore;
  readonly uploads: UploadStore;
  readonly segments: SegmentStore;
  readonly sealedAudits: SealedAuditStore;
  readonly erasures: ErasureStore;

  /** Blobs in this very database, for who wants no folder beside it. Asks the database nothing yet. */
  blobs(space: BlobSpace): BlobStore;

  /**
   * One acceptance: begin, take the locks in the fixed order (organization, actor, tree, Groups sorted), then in a later
   * statement read the clock and load, call `decide`, and write what it returns as one unit and commit; without `write`
   * nothing of it is written. Deadlock and serialization failures run the whole again, so `decide` may be called more than
   * once and must have no effect of its own. An exception out of `decide` writes nothing and is thrown on.
   *
   * Acceptances of one Organization that wait at the same time may share a transaction (group commit, design section 4):
   * they are decided one after the other, each on what the ones before it will have written, and none is answered before
   * the commit. When that transaction fails, each runs again in one of its own.
   */
  acceptTransition<Result>(
    organizationId: OrganizationId,
    plan: AcceptancePlan,
    decide: (opened: Opened, acceptance: Acceptance) => Promise<AcceptanceOutcome<Result>>,
  ): Promise<Result>;

  /** One consistent snapshot, read only, without locks. */
  read<Result>(organizationId: OrganizationId, work: (reader: Reader) => Promise<Result>): Promise<Result>;

  /**
   * Writes a snapshot and its admission record, both or neither, and answers the row that stands at its position then: its
   * own, or that of who came first.
   */
  recordSnapshot(organizationId: OrganizationId, snapshot: SnapshotRow, admission: AdmissionRow): Promise<SnapshotRow>;

  /**
   * Writes renditions of one Group, each with its admission record or not at all: one of an Event that has one of the same
   * cause is left out, so that the first one stands for ever.
   */
  recordRenditions(
    organizationId: OrganizationId,
    made: readonly { rendition: RenditionRow; admission: AdmissionRow }[],
  ): Promise<void>;

  /** What is wrong with this database, in sentences; empty when Commands may be accepted. Names an unsafe role, too. */
  problems(): Promise<string[]>;

  /** Ends all connections. Safe to call twice. */
  close(): Promise<void>;
}

// --- acceptance ---------------------------------------------------------------------------------------------------

export type LockMode = 'shared' | 'exclusive';

export interface AcceptancePlan {
  organization: LockMode;
  actor?: { principal: Principal; mode: LockMode };
  /** The mission tree that this Group belongs to. The root is immutable, so the store looks it up by itself. */
  tree?: { groupId: GroupId; mode: LockMode };
  /** Heads to lock. One that does not exist yet is locked by name, so that two creations queue up. */
  groups: GroupId[];
  receipt: ReceiptKey;
  /** Signing hashes whose admission records are wanted: the Command's and those of all embedded documents. */
  signingHashes: string[];
  reads: Read[];
  /** Will lock further Groups, read the record of its own or must see all that is written, so it shares no transaction. An exclusive lock or a second Group means the same. */
  alone?: boolean;
}

export interface ReceiptKey {
  actor: Principal;
  actionId: string;
}

/** What stands under the locks when the decision begins. */
export interface Opened {
  /** The database's own clock, read after the last lock was granted; milliseconds. */
  now: string;
  registryRevision: number;
  policy: Policy;
  receipt?: ReceiptRow;
  admissions: AdmissionRow[];
  /** By stream id, for the Groups of the plan and of `lockGroups`; absent: no such stream yet. */
  heads: Map<string, StreamHead>;
  loaded: LoadedReads;
}

/** What a decision can still ask for inside its transaction. */
export interface Acceptance {
  load(reads: Read[]): Promise<LoadedReads>;
  /** As in `Reader`: for an Event that repeats text which the state holds as a commitment only. */
  texts(groupId: string, commitments: string[]): Promise<Map<string, string>>;
  /**
   * The Events that a Message's text stands in: its own, and those of its amendments. Whole, whatever their number; only for
   * a plan that is decided alone.
   */
  eventsOfMessage(message: SpokenMessage): Promise<{ eventId: string; position: number }[]>;
  /** Locks further Group heads, which must sort after the ones held or come when none is held, and returns them. */
  lockGroups(groupIds: GroupId[]): Promise<Map<string, StreamHead>>;
  /** Heads of Organization streams, which the actor or registry lock already protects. */
  streamHeads(streamIds: string[]): Promise<Map<string, StreamHead>>;
  /** What stands of a locked Group in this moment. Only for who is `alone`: what others will have written is not in it. */
  record(): RecordReader;
}

export type RecordReader = Pick<Reader, 'aggregateHashes' | 'latestSnapshot' | 'policyLog' | 'refusals'>;

export type AcceptanceOutcome<Result> = { write?: Transition; result: Result };

/** A Group's sequence, or the log of one Organization aggregate (`card <agentId>`, `session <agentId>`). */
export interface StreamHead {
  streamId: string;
  /** Of the last Event; for a Group its sequence. */
  position: number;
  /** Accepted transitions so far: the Group revision. */
  revision: number;
  lastEventAt: string;
  /** Chain over the signing hashes of the Events. */
  chainHash: string;
  /** Chain over the transitions: receipt, admission records and policy entries of each. */
  logHash: string;
  /** Entries in the policy log so far. */
  policyPosition: number;
  rootGroupId: string;
}

/** Everything that one accepted Command writes. All or nothing. */
export interface Transition {
  acceptedAt: string;
  streams: StreamAdvance[];
  events: EventRow[];
  aggregates: (AggregateChange & { hash: string; index: AggregateIndex })[];
  texts: TextRow[];
  command: CommandRow;
  documents: DocumentRow[];
  admissions: AdmissionRow[];
  receipt: ReceiptRow;
  policyLog: PolicyLogRow[];
  /** Records of refusals that are to be sealed from then on. */
  auditToSeal?: AuditRange;
  /** Marks on Events that were there before. */
  withheld: WithheldRow[];
  /**
   * What an Agent Card brings along. A principal that is there already is left as it is; bindings and validity records are
   * new ones. The Registry revision rises by one when anything is written, and its log gets an entry.
   */
  registry?: { principals: PrincipalRow[]; bindings: KeyBindingRow[]; validity: KeyValidityRow[] };
}

export interface StreamAdvance {
  /** The head after the transition. */
  head: StreamHead;
  /** Position of the head before it, compared on write; 0 with `revision` 1: the stream is created. */
  expectedPosition: number;
  streamKind: 'group' | 'organization';
}

export interface EventRow {
  streamId: string;
  position: number;
  eventId: string;
  kind: string;
  /** '' for the Organization's own. */
  groupId: string;
  aggregateRevision: number | null;
  actor: Principal;
  occurredAt: string;
  commandHash: string;
  signingHash: string;
  keyId: string;
  chainHash: string;
  admissionRecordId: string;
  trustedAcceptedAt: string;
  /** Revision of the stream's transition that appended it. */
  revision: number;
  /** The exact signed bytes, canonical JSON text. '' in a row that it was taken out of (src/archive/segments/opened.ts). */
  body: string;
}

export interface TextRow {
  commitment: string;
  eventId: string;
  groupId: string;
  /** JSON text of the committed value. */
  value: string;
}

export interface CommandRow {
  signingHash: string;
  actor: Principal;
  actionId: string;
  kind: string;
  groupId: string;
  keyId: string;
  issuedAt: string;
  /** The exact bytes received, as UTF-8 text. */
  body: string;
}

export interface DocumentRow {
  signingHash: string;
  documentKind: string;
  groupId: string;
  keyId: string;
  principal: Principal;
  /** Signing hash of the Command that brought it. */
  commandHash: string;
  /** Canonical JSON text, signature included. */
  body: string;
}

/** A First-Admission Record. `record` is its nine-member document, canonical JSON text. */
export interface AdmissionRow {
  signingHash: string;
  admissionRecordId: string;
  documentKind: string;
  keyId: string;
  principal: Principal;
  trustedAcceptedAt: string;
  acceptedBy: Principal;
  streamId: string;
  revision: number;
  record: string;
}

export interface ReceiptRow {
  actor: Principal;
  actionId: string;
  signingHash: string;
  keyId: string;
  streamId: string;
  revision: number;
  primaryEventId: string;
  /** All Events of the transition, in order. */
  eventIds: string[];
  acceptedAt: string;
  /** The receipt document, canonical JSON text: the same bytes for ever. */
  body: string;
}

export interface PolicyLogRow {
  groupId: string;
  /** From 1, without gaps, per Group. */
  position: number;
  entryId: string;
  decision: string;
  actor: Principal;
  occurredAt: string;
  /** JSON text. */
  details: string;
  eventId: string;
  revision: number;
}

/** A signed Group Snapshot (decision 26). Its admission record stands with the others, under `snapshots <groupId>`. */
export interface SnapshotRow {
  groupId: string;
  /** From 1, without gaps, per Group. */
  position: number;
  snapshotId: string;
  /** Above that of the one before. */
  throughSequence: number;
  signingHash: string;
  /** Of `body`: what a client is told to ask for. */
  artifactHash: string;
  stateHash: string;
  /** JSON text: the addresses of its state packs, later ones win. */
  packs: string;
  createdAt: string;
  /** The signed document, canonical JSON text. It holds no free text, so nothing is ever taken out of it. */
  body: string;
}

// --- reading ------------------------------------------------------------------------------------------------------

export interface PageRequest {
  kind: AggregateKind;
  groupId?: string;
  states?: readonly string[];
  holder?: string;
  parent?: string;
  /** Ids strictly after this one, in byte order. */
  afterId?: string;
  limit: number;
}

export interface Reader extends HistoryReader, SegmentReader, SealedAuditReader, WithheldReader {
  now(): Promise<string>;
  policy(): Promise<Policy>;
  load(reads: Read[]): Promise<LoadedReads>;
  page(request: PageRequest): Promise<LoadedAggregate[]>;
  /**
   * JSON texts by commitment; what is erased is missing, though it may still be stored, and so is what belongs to another
   * Group. What is withheld is missing, too, for whoever does not ask for all.
   */
  texts(groupId: string, commitments: string[], which?: 'shown' | 'all'): Promise<Map<string, string>>;
  stream(streamId: string): Promise<StreamHead | undefined>;
  streamIds(): Promise<string[]>;
  events(streamId: string, afterPosition: number, limit: number): Promise<EventRow[]>;
  /** Without its body, which may lie elsewhere. */
  eventAt(streamId: string, position: number): Promise<Omit<EventRow, 'body'> | undefined>;
  event(eventId: string): Promise<EventRow | undefined>;
  eventsById(eventIds: string[]): Promise<EventRow[]>;
  receipt(key: ReceiptKey): Promise<ReceiptRow | undefined>;
  command(signingHash: string): Promise<CommandRow | undefined>;
  document(signingHash: string): Promise<DocumentRow | undefined>;
  admission(signingHash: string): Promise<AdmissionRow | undefined>;
  policyLog(groupId: string, afterPosition: number, limit: number): Promise<PolicyLogRow[]>;
  /** Kind, id and hash of every aggregate of the Group, sorted by kind, then id, in byte order: the state document. */
  aggregateHashes(groupId: string): Promise<{ kind: AggregateKind; id: string; hash: string }[]>;
  latestSnapshot(groupId: string): Promise<SnapshotRow | undefined>;
  snapshot(groupId: string, snapshotId: string): Promise<SnapshotRow | undefined>;
  /** By position. */
  snapshots(groupId: string, afterPosition: number, limit: number): Promise<SnapshotRow[]>;
  audit(afterId: number, limit: number, groupId?: string): Promise<AuditRow[]>;
  /** How many records of refusals there are about a Group, and the first and the last of them. */
  refusals(groupId: string): Promise<RefusalRange>;
  upload(key: UploadKey): Promise<Upload | undefined>;
}

/** Rows as they are stored, for who proves them. In no order unless one is named; what is not there is left out. */
export interface HistoryReader {
  /** By id. */
  streamRows(afterId: string, limit: number): Promise<StreamRow[]>;
  /** By revision. */
  transitions(streamId: string, afterRevision: number, limit: number): Promise<TransitionRow[]>;
  commands(signingHashes: string[]): Promise<CommandRow[]>;
  documents(signingHashes: string[]): Promise<DocumentRow[]>;
  admissions(signingHashes: string[]): Promise<AdmissionRow[]>;
  receipts(keys: ReceiptKey[]): Promise<ReceiptRow[]>;
  aggregateRows(keys: { kind: string; id: string }[]): Promise<AggregateRow[]>;
  textRows(groupId: string, commitments: string[]): Promise<TextRow[]>;
  registrySince(revision: number): Promise<RegistrySlice>;
  /** All of the Registry as its tables have it, beside the log. */
  registered(): Promise<RegisteredRows>;
  /** Of this Organization, in each table whose every row a verification accounts for. */
  rowCounts(): Promise<RowCounts>;
}

export interface RegisteredRows {
  organization: OrganizationRow;
  principals: PrincipalRow[];
  bindings: KeyBindingRow[];
  validity: (KeyValidityRow & { sequence: number })[];
  /** `document`: JSON text, as it is stored. */
  policies: { version: number; document: string }[];
}

export interface StreamRow {
  head: StreamHead;
  streamKind: string;
}

export interface TransitionRow {
  streamId: string;
  revision: number;
  logHash: string;
}

export interface AggregateRow {
  kind: string;
  id: string;
  groupId: string;
  version: number;
  /** JSON text, as it is stored. */
  document: string;
  hash: string;
  state: string | null;
  holder: string | null;
  parent: string | null;
}

export const TRANSITION_TABLES = [
  'streams',
  'transitions',
  'events',
  'aggregates',
  'texts',
  'commands',
  'documents',
  'admissions',
  'receipts',
  'policy_log',
] as const;

export const COUNTED_TABLES = [...TRANSITION_TABLES, 'group_snapshots', 'segments', 'withheld', 'renditions'] as const;

export type RowCounts = Record<(typeof COUNTED_TABLES)[number], number>;

// --- organizations, registry, sessions of the API -----------------------------------------------------------------

export interface OrganizationRow {
  organizationId: OrganizationId;
  /** 1 to 63 characters of a-z, 0-9 and hyphen; in URLs. */
  slug: string;
  displayName: string;
  createdAt: string;
  /** Service principals that the authority itself signs as. */
  authority: Principal;
  identity: Principal;
  registrar: Principal;
}

export interface PrincipalRow {
  principal: Principal;
  displayName: string;
}

export interface KeyBindingRow {
  keyId: string;
  principal: Principal;
  algorithm: 'Ed25519';
  /** base64url of the 32 bytes. */
  publicKey: string;
  validFrom: string;
}

/** Append-only; the earliest boundary ever recorded rules (MWP-SDV-012). */
export interface KeyValidityRow {
  keyId: string;
  recordedAt: string;
  validUntil?: string;
  revokedAt?: string;
}

/** A private key of a tenant's own service, encrypted under the master key. */
export interface SealedKeyRow {
  keyId: string;
  principal: Principal;
  sealed: string;
}

export interface NewOrganization {
  organization: OrganizationRow;
  principals: PrincipalRow[];
  bindings: KeyBindingRow[];
  sealedKeys: SealedKeyRow[];
  policy: Policy;
}

export interface RegistryChange {
  principals?: PrincipalRow[];
  bindings?: KeyBindingRow[];
  validity?: KeyValidityRow[];
  sealedKeys?: SealedKeyRow[];
  policy?: Policy;
  /**
   * Refused unless this moment is still to come under the lock, by the clock and by every Event of the Organization: a key
   * of the authority ends at a moment before which nothing was signed that would have to be judged at or after it.
   */
  takesEffectAt?: string;
}

export type RegistryOutcome =
  | { outcome: 'done'; registryRevision: number }
  /** The database's own constraints refused it (MWP-SDV-004). Repeating an identical binding is `done`. */
  | {
      outcome: 'refused';
      reason:
        | 'organization_exists'
        | 'principal_exists'
        | 'principal_unknown'
        | 'key_id_bound'
        | 'public_key_bound'
        | 'key_unknown'
        | 'validity_not_earlier'
        | 'moment_passed';
    };

/** What one revision of the Registry brought, as an entry of its log spells it. */
export interface RegistryChanges {
  /** In the first entry alone. */
  organization?: OrganizationRow;
  principals?: PrincipalRow[];
  bindings?: KeyBindingRow[];
  validity?: (KeyValidityRow & { sequence: number })[];
  /** `document`: JSON text. */
  policies?: { version: number; document: string }[];
}

/** One revision of the Registry, chained to the one before it (src/wire/registry-log.ts). */
export interface RegistryEntryRow {
  revision: number;
  recordedAt: string;
  /** RegistryChanges as JSON text. */
  changes: string;
  /** '' in the entry of what was registered before there was a log. */
  hash: string;
  seal: string;
}

/** The log from a revision on. It is complete when its last entry is of `registryRevision`, or there is none beyond. */
export interface RegistrySlice {
  registryRevision: number;
  entries: RegistryEntryRow[];
}

/** Puts the mark of this service on an entry of the Registry's log, under a key that the database does not hold. */
export type SealRegistry = (organizationId: string, revision: number, hash: string) => string;

/** Entries in one slice. */
export const REGISTRY_SLICE_MAXIMUM = 500;

export interface KeyEvidenceRow {
  registryRevision: number;
  /** Absent: the indexes prove that no such key id is bound in this Organization. */
  binding?: KeyBindingRow;
  validity: (KeyValidityRow & { sequence: number })[];
}

export interface AuditRow {
  id: number;
  recordedAt: string;
  /** First failing stage, or `domain`. */
  stage: string;
  reason: string;
  code: string;
  /** Of the Command, where it has a canonical form. */
  signingHash?: string;
  /** Believed only where the stage is `admission` or `domain`, or an embedded document failed. */
  actor?: Principal;
  actionId?: string;
  groupId?: string;
  /** With the Command's signature. */
  keyId?: string;
  /** SHA-256 of the bytes as they came. Absent in records of the first release, as all that follows. */
  receivedHash?: string;
  /** The Signed Document inside the Command that it was refused for. */
  documentKind?: string;
  documentPath?: string;
  documentHash?: string;
  documentKeyId?: string;
  /** Who brought it, by its token. */
  caller?: Principal;
}

export type AuditEntry = Omit<AuditRow, 'id' | 'recordedAt'>;

/** Audit records kept per Organization. */
export const AUDIT_MAXIMUM = 10_000;

/** As often as this, in records, it is seen to that the next ones have room. */
export const AUDIT_TIDIED_EVERY = 500;

/** Records past their retention that go with each new one. */
export const AUDIT_EXPIRED_AT_ONCE = 20;

export interface OrganizationStore {
  create(organization: NewOrganization): Promise<RegistryOutcome>;
  /** One of the few cross-tenant reads. */
  bySlug(slug: string): Promise<OrganizationRow | undefined>;
  /** For the operator only. */
  all(afterSlug: string, limit: number): Promise<OrganizationRow[]>;
  changeRegistry(organizationId: OrganizationId, change: RegistryChange): Promise<RegistryOutcome>;
  principals(organizationId: OrganizationId, afterKey: string, limit: number): Promise<PrincipalRow[]>;
  bindings(organizationId: OrganizationId, principal: Principal): Promise<KeyBindingRow[]>;
  keyEvidence(organizationId: OrganizationId, keyIds: string[]): Promise<Map<string, KeyEvidenceRow>>;
  /** Entries after that revision, oldest first, REGISTRY_SLICE_MAXIMUM at most. */
  registrySince(organizationId: OrganizationId, revision: number): Promise<RegistrySlice>;
  sealedKeys(organizationId: OrganizationId): Promise<SealedKeyRow[]>;
  policy(organizationId: OrganizationId): Promise<Policy>;
  /** True the first time only; one challenge is used once, over all processes. Forgets what expired. */
  consumeChallenge(organizationId: OrganizationId, challengeId: string, expiresAt: string): Promise<boolean>;
  /** Bounded; a failure to record never changes an answer, so this never rejects. The adapter's options hear of it. */
  recordAudit(organizationId: OrganizationId, entry: AuditEntry): Promise<void>;
  now(): Promise<string>;
}

// --- named points -------------------------------------------------------------------------------------------------

/**
 * The seams of what this service writes, in the order in which they are passed. Who starts the service may be told of each
 * passing, and end or hold the process there: that is how `npm run test:fault` shows that no moment is a bad one.
 */
export const NAMED_POINTS = [
  /** The Command is verified. No turn, no lock, nothing written. */
  'command-prepared',
  /** Its turn has come and it has a connection. */
  'turn-taken',
  /** Under all locks; receipt, admission records and the view are loaded. */
  'locked-and-loaded',
  /** Events are signed and the rows put together; still nothing written. */
  'decided',
  /** The original receipt of a repeated Command was found; its Events are still to be read. */
  'receipt-found',
  /** Of a change of the Registry or the policy, or of a new Organization: under its lock. */
  'registry-locked',
  /** All of that change is written and not committed. */
  'registry-written',
  /** Of any write: SQLite holds all its rows; on PostgreSQL they are about to travel together with COMMIT. */
  'commit-due',
  /** PostgreSQL only: COMMIT has left the process, its answer has not come. On SQLite COMMIT is one call. */
  'commit-sent',
  /** The database has answered the COMMIT; nobody has been told. */
  'committed',
  /** What is withheld is committed and marked; its renditions are still to be made. */
  'renditions-due',
  /** A refused Command waits for its audit record. */
  'audit-due',
  'audit-recorded',
  /** The refusals of an archived Group are read and not sealed yet. */
  'audit-seal-begun',
  /** The sealed bytes are stored; the plain records are still what is read. */
  'audit-blob-stored',
  /** The plain records are gone. */
  'audit-sealed',
  /** A login has used up its challenge; no session is opened and no token made. */
  'challenge-consumed',
  /** What became of a Command stands; not a byte of the answer has left. */
  'answer-due',
  /** The blob of a segment is stored; its row is not, and the bodies are still where they were. */
  'segment-stored',
  /** The row of a segment stands, and the bodies are out of theirs. */
  'segment-sealed',
  /** All renditions of an erasure stand; all that it destroys is where it was. */
  'erasure-rendered',
  /** Segments without the bodies are stored; their rows still name the old ones. */
  'erasure-stored',
  /** No row holds the bodies any more; the old segments are still stored. */
  'erasure-taken',
  /** Nor does a blob; the database still has the deleted bytes. */
  'erasure-removed',
  /** All that a snapshot names is stored; its row is not. */
  'snapshot-stored',
  /** Its row stands; what only older ones name is still there. */
  'snapshot-recorded',
] as const;

export type NamedPoint = (typeof NAMED_POINTS)[number];

/** Synchronous and without effect on the service, or the service would not be what is tested. */
export type PassPoint = (point: NamedPoint) => void;

export const passUnwatched: PassPoint = () => {};
