// What the pipeline tells of each Command to whoever watches the service. Names and codes only, never content.
import type { ErrorCode } from '../protocol/refusals.ts';
import type { TrustStage } from '../trust/diagnostic.ts';
import type { OrganizationRow } from '../store/port.ts';

/** What became of one submitted Command. Its ids are there when it could be read that far. */
export interface Conclusion {
  organization: OrganizationRow;
  /** The refusal's code otherwise. */
  outcome: 'accepted' | 'duplicate' | ErrorCode;
  /** As the sender wrote them: `kind` may be none of ours. */
  kind?: string;
  groupId?: string;
  actionId?: string;
  /** What the transport calls the request. */
  requestId?: string;
  /** `performance.now()` when it came. */
  began: number;
}

export interface AuthorityObserver {
  /** Parsed and verified, or failed on the way; `began`: `performance.now()`. */
  prepared(began: number): void;
  concluded(conclusion: Conclusion): void;
  /** The Command, or a document inside it, was not believed. */
  distrusted(stage: TrustStage): void;
  /** The whole runs once more on newer rows. */
  startedOver(reason: 'conflict' | 'registry_moved'): void;
  /** The clock is further behind a Group's last Event than is waited out. */
  clockBehind(): void;
}

const nothing = () => undefined;

/** Nobody watches. */
export const UNOBSERVED: AuthorityObserver = {
  prepared: nothing,
  concluded: nothing,
  distrusted: nothing,
  startedOver: nothing,
  clockBehind: nothing,
};
