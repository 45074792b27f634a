// The shapes of the authority's answers over HTTP, as docs/http-api.md gives them. Text that was erased stands as a
// commitment there, and is not modelled here.

import type { Event } from '../protocol/documents/event.ts';
import type { Conversation } from '../protocol/documents/conversation.ts';
import type { FirstAdmissionRecord } from '../protocol/documents/first-admission-record.ts';
import type { GroupSnapshot } from '../protocol/documents/group-snapshot.ts';
import type { Group } from '../protocol/documents/group.ts';
import type { Lease } from '../protocol/documents/lease.ts';
import type { Membership } from '../protocol/documents/membership.ts';
import type { Message } from '../protocol/documents/message.ts';
import type { Mission } from '../protocol/documents/mission.ts';
import type { WorkItem } from '../protocol/documents/work-item.ts';
import type { Principal } from '../protocol/principals.ts';
import type { ErasureReason } from '../protocol/retention.ts';
import type {
  Amounts,
  MembershipRole,
  MembershipState,
  MissionDetails,
  WorkItemDetails,
} from '../domain/aggregates.ts';
import type { SignedDocument } from '../trust/signed-kinds.ts';
import type { StateDocument } from '../wire/state-document.ts';

export interface Challenge {
  /** base64url of the canonical transcript; its decoded bytes are what is signed. */
  readonly challenge: string;
  readonly challengeId: string;
  readonly serverNonce: string;
  readonly expiresAt: string;
}

export interface Token {
  readonly token: string;
  readonly expiresAt: string;
  readonly principal: Principal;
  /** The new Session Epoch, where a session was opened. */
  readonly sessionEpoch?: number;
}

export interface Accepted {
  readonly receipt: Receipt;
  /** Its Events as this reader may see them, in order. */
  readonly events: readonly Event[];
  /** The Command had been accepted before; nothing happened this time. */
  readonly duplicate: boolean;
}

/** Ids, sequences, revisions, hashes and times; the same bytes for ever. */
export interface Receipt {
  readonly organizationId: string;
  readonly actor: Principal;
  readonly actionId: string;
  readonly kind: string;
  readonly commandHash: string;
  readonly keyId: string;
  readonly admissionRecordId: string;
  readonly acceptedAt: string;
  readonly acceptedBy: Principal;
  readonly primaryEventId: string;
  readonly events: readonly ReceiptEvent[];
  readonly groups: readonly {
    readonly groupId: string;
    readonly groupRevision: number;
    readonly headSequence: number;
  }[];
  readonly expectedRevision?: number;
  readonly aggregateRevision?: number;
}

export interface ReceiptEvent {
  readonly eventId: string;
  readonly kind: string;
  readonly groupId?: string;
  readonly sequence?: number;
  readonly aggregateRevision?: number;
  readonly signingHash: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

export interface EventPage extends Page<Event> {
  readonly throughSequence: number;
  readonly headSequence: number;
}

export interface Me extends Partial<Page<never>> {
  readonly organizationId: string;
  readonly principal: Principal;
  readonly sessionEpoch?: number;
  readonly memberships: readonly (MembershipItem & { readonly missionId: string })[];
}

export interface MembershipItem {
  readonly groupId: string;
  readonly member: Principal;
  readonly state: MembershipState;
  readonly membershipEpoch: number;
  readonly roles: readonly MembershipRole[];
  readonly visibilityStartSequence: number;
  readonly provisionalExpiresAt?: string;
  readonly documents: readonly Membership[];
}

export interface MissionItem {
  readonly mission: Mission;
  readonly details: MissionDetails<string>;
}

export interface GroupItem {
  readonly group: Group;
  readonly headSequence: number;
  readonly groupRevision: number;
}

export interface WorkItemItem {
  readonly workItem: WorkItem;
  readonly details: WorkItemDetails<string>;
}

export interface AccountItem {
  readonly account: {
    readonly accountId: string;
    readonly owner: { readonly type: 'mission' | 'work_item'; readonly id: string };
    readonly parentAccountId?: string;
    readonly currency?: string;
    readonly state: string;
    readonly limit: Partial<Amounts>;
    readonly allocated: Amounts;
    readonly usage: Amounts;
    readonly treeUsage: Amounts | null;
    readonly remaining: Readonly<Record<keyof Amounts, number | null>>;
  };
}

export interface StateItem {
  readonly document: StateDocument;
  readonly stateHash: string;
  readonly throughSequence: number;
}

/** Of `/audit`; what else it holds is in docs/http-api.md. */
export interface AuditItem {
  readonly id: number;
  readonly code: string;
  readonly stage: string;
}

export interface PolicyEntryItem {
  readonly position: number;
  readonly entryId: string;
  readonly decision: string;
  readonly actor: Principal;
  readonly occurredAt: string;
  readonly details: Record<string, unknown>;
  readonly eventId: string;
}

/** What each list below a Group holds. */
export interface GroupLists {
  'work-items': WorkItemItem;
  memberships: MembershipItem;
  conversations: { readonly conversation: Conversation };
  leases: { readonly lease: Lease };
  budgets: AccountItem;
  artifacts: { readonly artifact: SignedDocument<'artifact'>; readonly details: { readonly signingHash: string } };
  evidence: { readonly evidence: SignedDocument<'evidence'>; readonly details: { readonly signingHash: string } };
  approvals: { readonly approval: SignedDocument<'approval'>; readonly details: { readonly signingHash: string } };
  proposals: { readonly proposal: { readonly proposalId: string; readonly state: 'open' | 'authorized' } };
  'policy-log': PolicyEntryItem;
}

export interface MessageItem {
  /** With commitments in place of its texts where it is erased, or redacted and the reader no auditor. */
  readonly message: Message;
  readonly details?:
    | {
        readonly redacted: true;
        readonly amendmentId: string;
        readonly redactedBy: Principal;
        readonly redactedAt: string;
        readonly reason?: string;
      }
    | {
        readonly erased: true;
        readonly reasonCode: ErasureReason;
        readonly erasedBy: Principal;
        readonly erasedAt: string;
      };
}

export interface SnapshotItem {
  readonly snapshot: GroupSnapshot;
  readonly details: {
    readonly snapshotArtifactHash: string;
    readonly admissionRecord: FirstAdmissionRecord;
    readonly statePath: string;
  };
}

export interface StoredContent {
  readonly contentHash: string;
  readonly sizeBytes: number;
}
