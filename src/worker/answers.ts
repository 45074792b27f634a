// The shapes of the authority's answers over HTTP, as docs/http-api.md gives them.

import type { Event } from '../protocol/documents/event.ts';
import type { Principal } from '../protocol/principals.ts';

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
  /** Of an Agent whose session was opened or is open. */
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
