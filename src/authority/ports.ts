// What the authority asks of the outside, and what it answers. Neither a database nor a transport is named here.
import type { Principal } from '../protocol/principals.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { Signer } from '../trust/signing.ts';
import type { DeliveredBody } from '../delivery/rendered.ts';
import type { OrganizationRow } from '../store/port.ts';

export interface TenantSigners {
  /** Undefined where this service holds no such key; throws when it cannot be opened. */
  signer(organization: OrganizationRow, keyId: string): Promise<Signer | undefined>;
  /** Of the service's key that counts at this time. Throws where there is none, or when it cannot be opened. */
  signerOf(organization: OrganizationRow, service: Principal, time: string): Promise<Signer>;
}

/** What a transport needs of them, to sign as the identity service or the registrar. */
export type ServiceSigners = Pick<TenantSigners, 'signerOf'>;

/** Who brings the Command. Authenticated by the transport; not necessarily who signed it. */
export interface Caller {
  principal: Principal;
  /** What the transport calls this request, for the logs. */
  requestId?: string;
}

export interface Authority {
  /**
   * One signed Command, as the bytes received, through design section 4. Never throws for anything that a client can
   * cause; a database that is gone is a retryable INTERNAL_ERROR and changed nothing that was not answered before.
   */
  submit(organization: OrganizationRow, bytes: Uint8Array, caller: Caller): Promise<Submission>;
}

export type Submission = AcceptedSubmission | RefusedSubmission;

export interface AcceptedSubmission {
  accepted: true;
  /** The receipt document: canonical JSON text, the same bytes for ever. */
  receipt: string;
  /** Its Events that the caller may see now, as it may have them, in order. */
  events: DeliveredBody[];
  /** The Command had been accepted before; nothing happened this time. */
  duplicate: boolean;
}

export interface RefusedSubmission {
  accepted: false;
  refusal: Refusal;
  /** Only when the Command could be read that far, and the caller may see the Group. */
  relatedActionId?: string;
  groupId?: string;
  /** Authority or host time of the refusal. */
  occurredAt: string;
}

/** The receipt document. It holds ids, sequences, revisions, hashes and times, never content (design section 4). */
export interface Receipt {
  organizationId: string;
  actor: Principal;
  actionId: string;
  kind: string;
  /** Signing hash of the Command. */
  commandHash: string;
  keyId: string;
  admissionRecordId: string;
  acceptedAt: string;
  acceptedBy: Principal;
  primaryEventId: string;
  events: ReceiptEvent[];
  /** Of each Group that it touched, after the transition. */
  groups: { groupId: string; groupRevision: number; headSequence: number }[];
  /** What `expectedRevision` was compared with, and what became of it. */
  expectedRevision?: number;
  aggregateRevision?: number;
}

export interface ReceiptEvent {
  eventId: string;
  kind: string;
  groupId?: string;
  sequence?: number;
  aggregateRevision?: number;
  signingHash: string;
}
