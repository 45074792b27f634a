// Which Events are not delivered as they were accepted, and what is delivered in their place (decision 31).
import type { WithholdingCause } from '../../protocol/documents/rendition.ts';
import type { Principal } from '../../protocol/principals.ts';

/** A mark: written with the Event that orders it, never changed or removed. */
export interface WithheldRow {
  groupId: string;
  /** Sequence of the marked Event. */
  position: number;
  eventId: string;
  cause: WithholdingCause;
  /** A word of a closed list. */
  reasonCode: string;
  /** The Event that ordered it. */
  orderedBy: string;
  recordedAt: string;
}

/** A mark, with the rendition to deliver where it is made already. */
export interface WithheldEvent extends WithheldRow {
  /** The signed document, canonical JSON text. */
  rendition?: string;
}

/** What stands in the place of a marked Event. Its admission record stands with the others, under `renditions <groupId>`. */
export interface RenditionRow {
  groupId: string;
  position: number;
  eventId: string;
  cause: WithholdingCause;
  /** Of the rendition. */
  signingHash: string;
  keyId: string;
  signedAt: string;
  /** The signed document, canonical JSON text. */
  body: string;
}

/** What tells which Events speak of a Message. */
export interface SpokenMessage {
  groupId: string;
  messageId: string;
  author: Principal;
  /** Of its own texts. */
  commitments: string[];
}

/** Between two sequences of a Group, both included; in their order. */
export interface WithheldReader {
  withheldEvents(groupId: string, from: number, through: number): Promise<WithheldEvent[]>;
  renditionRows(groupId: string, from: number, through: number): Promise<RenditionRow[]>;
}
