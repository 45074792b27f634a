// The only place where a protocol error code meets an HTTP status. docs/http-api.md shows this table to clients.
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ErrorCode } from '../protocol/refusals.ts';

export const STATUS_OF_CODE: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  UNSUPPORTED_VERSION: 400,
  SCHEMA_VALIDATION_FAILED: 400,
  PROTOCOL_VIOLATION: 400,
  // 401 means one thing, so that a client may answer it with a login; what a login would not mend is 403.
  AUTH_REQUIRED: 401,
  AUTH_INVALID_SIGNATURE: 403,
  AUTH_FORBIDDEN: 403,
  MEMBERSHIP_REQUIRED: 403,
  GROUP_NOT_FOUND: 404,
  // The Command was right once, or may be right later: the state is in its way.
  AUTH_STALE_SESSION: 409,
  AUTH_STALE_COORDINATOR: 409,
  MEMBERSHIP_STALE: 409,
  INVALID_STATE_TRANSITION: 409,
  REVISION_CONFLICT: 409,
  ACTION_ID_COLLISION: 409,
  WORK_OFFER_EXPIRED: 409,
  WORK_ALREADY_OWNED: 409,
  WORK_LEASE_EXPIRED: 409,
  WORK_STALE_OWNERSHIP: 409,
  APPROVAL_REQUIRED: 409,
  BUDGET_EXCEEDED: 409,
  CURSOR_TOO_OLD: 410,
  INVALID_COMMAND: 422,
  UNKNOWN_CRITICAL_EXTENSION: 422,
  WORK_CONTRACT_INCOMPLETE: 422,
  RATE_LIMITED: 429,
  BACKPRESSURE: 503,
  INTERNAL_ERROR: 503,
};
