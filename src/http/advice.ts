// What each error code means to a client, and what it should do. The document of the API and docs/http-api.md both say it
// in these words; a test compares them.
import type { ErrorCode } from '../protocol/refusals.ts';

export interface Advice {
  /** What happened. */
  meaning: string;
  /** What to do about it. Nothing was changed, whatever the code. */
  todo: string;
}

export const ADVICE_OF_CODE: Readonly<Record<ErrorCode, Advice>> = {
  UNSUPPORTED_VERSION: {
    meaning: 'The document names a `protocolVersion` that this service does not speak.',
    todo: 'Make the document anew for version 0.1.',
  },
  AUTH_REQUIRED: {
    meaning: 'There is no token, or it ended or was never good here.',
    todo: 'Log in and send the request again; a Command whose session was replaced since then must be made anew.',
  },
  AUTH_INVALID_SIGNATURE: {
    meaning: 'A signature, its key, its time or the age of the Command is not accepted; which of them is not told.',
    todo: 'Do not send it again unchanged. Mend the cause; if the Command was too old, make a new one.',
  },
  AUTH_STALE_SESSION: {
    meaning: 'The Session Epoch is not the current one: another runtime of this Agent took over.',
    todo: 'Read the current epoch from `/me`; if this runtime shall go on, sign a new Command with a new Action ID.',
  },
  AUTH_STALE_COORDINATOR: {
    meaning: 'The Coordinator Epoch is not the current one, or its lease has lapsed.',
    todo: 'Read the Mission. Only the current Coordinator goes on, with a new Command.',
  },
  AUTH_FORBIDDEN: {
    meaning: 'The actor is genuine and may not do this.',
    todo: 'Nothing, until role, grant or policy changes; then a new Command.',
  },
  GROUP_NOT_FOUND: {
    meaning: 'There is no such Group, or it is none of the caller’s business.',
    todo: 'Check the id. Do not send it again by itself.',
  },
  MEMBERSHIP_REQUIRED: {
    meaning: 'The Membership of the caller does not reach this far, or has ended.',
    todo: 'Ask for a Membership; then a new Command with its epoch.',
  },
  MEMBERSHIP_STALE: {
    meaning: 'The Membership Epoch is not the current one, or the Membership ended.',
    todo: 'Read the current epoch from `/me`, then a new Command with a new Action ID.',
  },
  SCHEMA_VALIDATION_FAILED: {
    meaning: 'The shape of the request or of the document is wrong; the message says where.',
    todo: 'Correct it; a Command is signed again.',
  },
  INVALID_COMMAND: {
    meaning: 'The shape is right and the meaning is wrong: an unknown reference, members that contradict each other.',
    todo: 'Correct the content; a new Command. With 404: check the id.',
  },
  INVALID_STATE_TRANSITION: {
    meaning: 'The state of things does not permit it.',
    todo: 'Read the state again and decide anew.',
  },
  REVISION_CONFLICT: {
    meaning: 'Somebody else changed it first; `currentRevision` says what it is now, where that can be told.',
    todo: 'Read it again, then a new Command with a new Action ID and the new revision.',
  },
  ACTION_ID_COLLISION: {
    meaning: 'The Action ID was used for a Command with other content.',
    todo: 'Make the Command anew under a fresh Action ID.',
  },
  UNKNOWN_CRITICAL_EXTENSION: {
    meaning: 'An extension that is marked critical is not known here.',
    todo: 'Leave it out, or have its profile approved and pinned.',
  },
  WORK_CONTRACT_INCOMPLETE: {
    meaning: 'The contract lacks what authorising or offering it needs.',
    todo: 'A new Command with the whole contract.',
  },
  WORK_OFFER_EXPIRED: {
    meaning: 'The offer has ended or was taken back.',
    todo: 'Wait for a new offer.',
  },
  WORK_ALREADY_OWNED: {
    meaning: 'Another Agent was first.',
    todo: 'Leave the WorkItem.',
  },
  WORK_LEASE_EXPIRED: {
    meaning: 'The lease has ended, or is not the current one.',
    todo: 'Stop. Get a live lease, then a new Command; never assume that the effect happened.',
  },
  WORK_STALE_OWNERSHIP: {
    meaning: 'The WorkItem went to somebody else, or your Agent Card lacks what you accepted it with.',
    todo: 'Stop working on it; only accepting an offer gives a new epoch.',
  },
  APPROVAL_REQUIRED: {
    meaning: 'A human or the policy must approve this first.',
    todo: 'Wait for the approval, then a new Command: the revision has moved.',
  },
  BUDGET_EXCEEDED: {
    meaning: 'It would overflow a limit; nothing was charged.',
    todo: 'Ask for a higher limit, then a new Command.',
  },
  RATE_LIMITED: {
    meaning: 'A limit on rate, count or depth is reached; `details.limit` says which.',
    todo: 'With `retryAfterMs`: send the same bytes again after it. Without: finish something or ask for an override.',
  },
  BACKPRESSURE: {
    meaning: 'The reader is slower than what it reads.',
    todo: 'After `retryAfterMs` go on from the last position.',
  },
  CURSOR_TOO_OLD: {
    meaning: 'The position lies before what is kept online.',
    todo: 'Restore the snapshot that is named, then go on after its sequence.',
  },
  PROTOCOL_VIOLATION: {
    meaning: 'The request is not one of this API: its bytes, size, type, path or method.',
    todo: 'Correct the client. With 405, `Allow` names the methods of the path.',
  },
  INTERNAL_ERROR: {
    meaning: 'The service could not answer.',
    todo: 'After `retryAfterMs` send the same bytes again; a Command keeps its Action ID, so nothing happens twice.',
  },
};
