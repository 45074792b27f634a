// The shape of every rule of this domain: `decide` turns a Command into Event drafts or one refusal, `evolve` folds
// Events. Both are pure and synchronous: time, ids, hashes and policy come in through the context.
import type { z } from 'zod';
import type { Principal, PrincipalType } from '../protocol/principals.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { WithholdingCause } from '../protocol/documents/rendition.ts';
import type { Extensions, MessageAggregate } from './aggregates.ts';
import type { GroupRecord, RefusalRange } from './group-record.ts';
import type { Policy } from './policy.ts';
import type { Read } from './reads.ts';
import type { View } from './view.ts';

/** The Command envelope of command.schema.json, already verified. */
export interface Command {
  protocolVersion: '0.1';
  actionId: string;
  actor: Principal;
  kind: string;
  groupId?: string;
  sessionEpoch?: number;
  membershipEpoch?: number;
  coordinatorEpoch?: number;
  conversationId?: string;
  workItemId?: string;
  cooperationOverrideGrantId?: string;
  expectedRevision?: number;
  correlationId: string;
  causedByEventId?: string;
  issuedAt: string;
  payload: Record<string, unknown>;
  extensions?: Extensions;
}

export interface Request<P> {
  command: Command;
  payload: P;
}

/** A Signed Document found in a payload. Verified and admitted before any semantic check of the Command. */
export interface EmbeddedDocument {
  /** Where it stands in the payload, as in `approval` or `evidence.0`. */
  path: string;
  kind:
    'agent-card' | 'approval' | 'artifact' | 'context-package' | 'evidence' | 'group-snapshot' | 'extension-profile';
  value: unknown;
}

export interface DecisionContext {
  /** Authority time under the lock: UTC, milliseconds, capital Z. */
  now: string;
  /** A fresh `urn:uuid:` id. */
  newId: () => string;
  policy: Policy;
  /** The policy as it was when something was signed; rights are asked of both (see rights.ts). */
  policyAt: (signedAt: string) => Policy;
  /** The tenant. */
  organizationId: string;
  /** `sha256:` of the canonical form. */
  hash: (value: unknown) => string;
  /** Signing hashes of the embedded documents, by path. */
  documentHashes: ReadonlyMap<string, string>;
  /** Who signed the embedded documents, by path. Says nothing new but for an Agent Card, which names no signer. */
  documentSigners: ReadonlyMap<string, Principal>;
  /** The text behind a commitment that the kind's `texts` named; undefined once it is erased. */
  textOf: (commitment: string) => unknown;
  /** The Group Authority's own service principal. */
  authority: Principal;
  /** Sequence of the Group's last Event before this Command; 0 for a Group that does not exist yet. */
  headSequence: number;
  /** Only for a kind that decides on it. */
  record?: GroupRecord;
}

export interface EventDraft {
  kind: string;
  /** The Group whose sequence it joins; absent for the Organization's own Events. */
  groupId?: string;
  /** Of the aggregate that it changed, after the change; absent for the Organization's own Events. */
  aggregateRevision?: number;
  workItemId?: string;
  conversationId?: string;
  /** Absent: the Command. A number: the draft at that position, which comes before this one. */
  causedBy?: number;
  /** Absent: the Command's actor. */
  actor?: Principal;
  payload: Record<string, unknown>;
}

export interface PolicyEntryDraft {
  groupId: string;
  /** 1 to 4000 characters. */
  decision: string;
  details: Record<string, unknown>;
  /** The draft that it belongs to. */
  draft: number;
}

export interface Accepted {
  refused?: undefined;
  /** In order; the first one that was caused by the Command is the primary Event unless `primary` says otherwise. */
  events: EventDraft[];
  primary?: number;
  policyLog?: PolicyEntryDraft[];
  withholds?: WithholdingDraft;
  registry?: RegistryDraft;
  /** Records of refusals that are sealed from now on, all about the Command's Group. */
  sealsRefusals?: Required<RefusalRange>;
}

/**
 * A Message that is withheld from now on: the Event that posted it, and those of its corrections and retractions, because
 * these speak of it. Which Events they are is for the store to find, however many.
 */
export interface WithholdingDraft {
  cause: WithholdingCause;
  reasonCode: string;
  message: MessageAggregate;
  /** An earlier one of this Message, where its reason is withheld, too. */
  redaction?: MessageAggregate;
  /** The draft that orders it. */
  draft: number;
}

/**
 * What an Agent Card says about its Agent and the Agent's keys, all of it. The Registry takes what it does not hold yet;
 * its constraints, and the point check that needs cryptography, may still refuse the whole Command (MWP-SDV-004, -005).
 */
export interface RegistryDraft {
  principals: { principal: Principal; displayName: string }[];
  bindings: { keyId: string; principal: Principal; publicKey: string; validFrom: string }[];
  validity: { keyId: string; validUntil?: string; revokedAt?: string }[];
}

export type Decision = Accepted | Refusal;

export interface CommandKind<P> {
  readonly kind: string;
  readonly payload: z.ZodType<P>;
  /** Who may send it at all; another actor type is AUTH_FORBIDDEN. */
  readonly actors: readonly PrincipalType[];
  /** Locks beyond the usual shared ones (design section 4, step 2). */
  readonly locks?: { organization?: 'exclusive'; actor?: 'exclusive'; tree?: 'exclusive' };
  /** The Agent to lock exclusively in place of the Command's actor, for services that act on an Agent. */
  lockActor?(payload: P): Principal;
  /** 'existing': the common Group checks apply. 'new': it creates `groupId`. 'none': Organization's own. */
  readonly group: 'existing' | 'new' | 'none';
  /** May a provisional member send it? Only work.accept_offer. */
  readonly provisionalAllowed?: boolean;
  /** Is it taken in an archived Group, too? Only event_erase: what has to go does not wait for anybody. */
  readonly archivedAllowed?: true;
  /** Does it want `context.record`? Read once the common checks let the Command through; such a Command is decided alone. */
  readonly decidesOnRecord?: boolean;
  /** `reads` and `moreReads` may be asked before these are verified; `decide` runs only when all of them were. */
  documents?(payload: P): EmbeddedDocument[];
  /** Which revision `expectedRevision` is compared with: commands.md (c). `undefined`: the aggregate does not exist. */
  revision?(request: Request<P>, view: View): number | undefined;
  /** RATE_LIMITED when a cooperation limit of the tenant's policy is exceeded (commands.md (f)). */
  limits?(request: Request<P>, view: View, context: DecisionContext): Refusal | undefined;
  /** Everything beyond the common reads (actor's session and membership, Group, Mission). */
  reads(request: Request<P>): Read[];
  /** A second round, for what only the first round can name. May be asked again until it names nothing new. */
  moreReads?(request: Request<P>, view: View): Read[];
  /**
   * Commitments whose texts `decide` wants, asked once after the last reads. State holds no text, so whoever appends a
   * whole after-image (work.offer.created) or compares texts (work.authorize with its proposal) must fetch them.
   */
  texts?(request: Request<P>, view: View): string[];
  /** Does it withhold what was said before? Then it shares no transaction: what is found must be all there is. */
  readonly withholds?: true;
  /** Further Groups to lock, known after the reads. Only for kinds that cross Groups. */
  moreGroups?(request: Request<P>, view: View): string[];
  decide(request: Request<P>, view: View, context: DecisionContext): Decision;
}

/** An Event as `evolve` sees it: every erasable member of the payload is a commitment already. */
export interface FoldableEvent<P = Record<string, unknown>> {
  eventId: string;
  kind: string;
  groupId?: string;
  sequence?: number;
  aggregateRevision?: number;
  workItemId?: string;
  conversationId?: string;
  actor: Principal;
  occurredAt: string;
  payload: P;
}

export interface EventKind<P = Record<string, unknown>> {
  readonly kind: string;
  /** Paths of erasable payload members: names joined by dots, `*` for every array element or object member. */
  readonly erasable: readonly string[];
  evolve(view: View, event: FoldableEvent<P>): void;
}
