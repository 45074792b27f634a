// The built-in Extension Profile ext.mwp.retention: the kinds that take texts out of a Group's history (decision 32).
export const EVENT_ERASE = 'ext.mwp.retention.event_erase';
export const EVENT_ERASED = 'ext.mwp.retention.event_erased';

/** Why something is erased. A word of this list and never a text, which would have to be erased in its turn. */
export const ERASURE_REASONS = [
  'legal_request',
  'court_order',
  'personal_data',
  'secret_disclosed',
  'retention_expired',
] as const;
export type ErasureReason = (typeof ERASURE_REASONS)[number];
