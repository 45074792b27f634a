// The closed table of outcomes that are not acceptance (requirements, Errors). No HTTP status lives here.

export const ERROR_CODES = [
  'UNSUPPORTED_VERSION',
  'AUTH_REQUIRED',
  'AUTH_INVALID_SIGNATURE',
  'AUTH_STALE_SESSION',
  'AUTH_STALE_COORDINATOR',
  'AUTH_FORBIDDEN',
  'GROUP_NOT_FOUND',
  'MEMBERSHIP_REQUIRED',
  'MEMBERSHIP_STALE',
  'SCHEMA_VALIDATION_FAILED',
  'INVALID_COMMAND',
  'INVALID_STATE_TRANSITION',
  'REVISION_CONFLICT',
  'ACTION_ID_COLLISION',
  'UNKNOWN_CRITICAL_EXTENSION',
  'WORK_CONTRACT_INCOMPLETE',
  'WORK_OFFER_EXPIRED',
  'WORK_ALREADY_OWNED',
  'WORK_LEASE_EXPIRED',
  'WORK_STALE_OWNERSHIP',
  'APPROVAL_REQUIRED',
  'BUDGET_EXCEEDED',
  'RATE_LIMITED',
  'BACKPRESSURE',
  'CURSOR_TOO_OLD',
  'PROTOCOL_VIOLATION',
  'INTERNAL_ERROR',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An expected "no". Returned, never thrown; nothing of it is stored but the protected audit record. */
export interface Refusal {
  readonly refused: true;
  readonly code: ErrorCode;
  /** For the caller: 1 to 2000 characters, no detail that the caller may not see. */
  readonly message: string;
  /** For the protected audit record, where the message repeats what the sender wrote. */
  readonly reason?: string;
  readonly expectedRevision?: number;
  readonly currentRevision?: number;
  /** Milliseconds; with RATE_LIMITED, BACKPRESSURE and a retryable INTERNAL_ERROR. */
  readonly retryAfterMs?: number;
  /** With CURSOR_TOO_OLD: of the signed snapshot to restore. */
  readonly snapshotArtifactHash?: string;
  readonly details?: Record<string, unknown>;
}

export type RefusalDetail = Pick<
  Refusal,
  'reason' | 'expectedRevision' | 'currentRevision' | 'retryAfterMs' | 'snapshotArtifactHash' | 'details'
>;

export function refuse(code: ErrorCode, message: string, detail: RefusalDetail = {}): Refusal {
  return { refused: true, code, message, ...detail };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && (value as { refused?: unknown }).refused === true;
}

/** May the identical signed bytes succeed later? (requirements, Errors, column "retry") */
export function isRetryable(refusal: Refusal): boolean {
  if (refusal.code === 'INTERNAL_ERROR' || refusal.code === 'BACKPRESSURE') return true;
  return refusal.code === 'RATE_LIMITED' && refusal.retryAfterMs !== undefined;
}
