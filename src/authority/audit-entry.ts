// What the protected audit record holds of a refused Command: stage, reason, ids and hashes, never a piece of it
// (MWP-SDV-018c, MWP-ADM-005). Knows no store.
import type { Command } from '../domain/decider.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { TrustFailure } from '../trust/outcome.ts';
import type { Verified } from '../trust/verify.ts';
import { sha256Label } from '../wire/canonical.ts';
import type { AuditEntry } from '../store/port.ts';
import type { ClaimedNames } from './claimed-names.ts';
import type { FailedDocument } from './failed-document.ts';
import type { Caller } from './ports.ts';

export interface RefusedCommand {
  refusal: Refusal;
  /** Why it was not believed; without it, the rules said no. */
  failure?: TrustFailure;
  /** Of one that passed its schema. */
  command?: Partial<Command>;
  /** Of one that did not. */
  claimed?: ClaimedNames;
  /** Of one that passed the six stages. */
  verified?: Pick<Verified, 'signingHash' | 'keyId'>;
  /** The embedded document that it was refused for. */
  document?: FailedDocument;
}

export function auditEntry(refused: RefusedCommand, received: Uint8Array, { principal }: Caller): AuditEntry {
  const { refusal, command, claimed, document } = refused;
  const failure = document?.failure ?? refused.failure;
  const { stage, reason } = failure?.diagnostic.forAudit() ?? {
    stage: 'domain',
    reason: refusal.reason ?? refusal.message,
  };
  const { actor, actionId, groupId } = command ?? claimed ?? {};
  // An embedded document that failed has names of its own; the Command around it was believed.
  const { signingHash, keyId = claimed?.keyId } = refused.verified ?? (document ? {} : failure?.document) ?? {};
  return {
    stage,
    reason,
    code: refusal.code,
    caller: principal,
    receivedHash: sha256Label(received),
    ...(signingHash !== undefined && { signingHash }),
    ...(keyId !== undefined && { keyId }),
    ...(actor && { actor: { type: actor.type, id: actor.id } }),
    ...(actionId !== undefined && { actionId }),
    ...(groupId !== undefined && { groupId }),
    ...(document && documentEntry(document)),
  };
}

function documentEntry({ path, kind, names: { signingHash, keyId } }: FailedDocument): Partial<AuditEntry> {
  return {
    documentKind: kind,
    documentPath: `/payload/${path.replaceAll('.', '/')}`,
    ...(signingHash !== undefined && { documentHash: signingHash }),
    ...(keyId !== undefined && { documentKeyId: keyId }),
  };
}
