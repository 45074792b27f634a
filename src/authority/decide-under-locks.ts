// Steps 3 to 5 of design section 4, inside the transaction: receipt, admission, decision, and the rows to write.
// It may run more than once for one Command (the store retries a deadlock), so it has no effect of its own.
import { commonRefusal, decideCommand } from '../domain/decide.ts';
import type { DecisionContext } from '../domain/decider.ts';
import { organizationStream } from '../domain/stream-names.ts';
import { seesEvent } from '../domain/visibility.ts';
import { samePrincipal } from '../protocol/principals.ts';
import { isRefusal, refuse, type Refusal } from '../protocol/refusals.ts';
import { compareTimestamps, millisFromTimestamp } from '../protocol/timestamps.ts';
import { trustFailure, type TrustFailure } from '../trust/outcome.ts';
import { canonicalHash } from '../wire/canonical.ts';
import { freshlyAccepted, type DeliveredBody } from '../delivery/rendered.ts';
import type { WithheldRow } from '../store/port/withheld.ts';
import type { Acceptance, AcceptanceOutcome, Opened, OrganizationRow, PassPoint, ReceiptRow } from '../store/port.ts';
import { admitAll } from './admission.ts';
import { appendEvents, type AppendContext } from './append.ts';
import type { AuthorityKeys } from './authority-keys.ts';
import { registryAddition } from './card-registry.ts';
import type { FailedDocument } from './failed-document.ts';
import { gather } from './gather.ts';
import { groupRecord } from './group-record.ts';
import type { Caller } from './ports.ts';
import type { PreparedCommand } from './prepare.ts';
import { policyHistory } from './policy-history.ts';
import { buildTransition } from './transition.ts';
import { marksFor } from './withholding.ts';

/** A clock this far behind a Group's last Event is waited out with that Event's time; beyond it, an alarm. */
export const CLOCK_TOLERANCE_MILLISECONDS = 5_000;

export type Verdict =
  | { verdict: 'accepted'; receipt: string; events: DeliveredBody[]; withheld: WithheldRow[] }
  | { verdict: 'duplicate'; receipt: ReceiptRow }
  | { verdict: 'refused'; refusal: Refusal; failure?: TrustFailure; document?: FailedDocument }
  /** The Registry changed since the documents were verified: verify again. */
  | { verdict: 'registry-moved' }
  | { verdict: 'clock-behind'; streamId: string };

export interface UnderLocks {
  organization: OrganizationRow;
  prepared: PreparedCommand;
  caller: Caller;
  keys: AuthorityKeys;
  newId: () => string;
  pass: PassPoint;
}

export async function decideUnderLocks(
  input: UnderLocks,
  opened: Opened,
  acceptance: Acceptance,
): Promise<AcceptanceOutcome<Verdict>> {
  const { organization, prepared, newId } = input;
  input.pass('locked-and-loaded');
  const early = checkCaller(input, opened) ?? checkRegistry(input, opened) ?? checkReceipt(prepared, opened);
  if (early) return { result: early };
  const acceptedBy = organization.authority;
  const judged = admitAll(prepared, opened, { now: opened.now, acceptedBy, newId });
  if (!judged.ok) return { result: { verdict: 'refused', refusal: judged.refusal, failure: judged } };
  const { admitted } = judged;
  const { view, texts } = await gather(prepared, opened, acceptance);
  const now = authorityTime(opened);
  if ('behind' in now) return { result: { verdict: 'clock-behind', streamId: now.behind } };
  const context: DecisionContext = {
    now: now.time,
    newId,
    policy: opened.policy,
    policyAt: policyHistory(prepared.registry, opened.policy),
    hash: canonicalHash,
    documentHashes: new Map(prepared.documents.map(({ path, verified }) => [path, verified.signingHash])),
    documentSigners: new Map(prepared.documents.map(({ path, verified }) => [path, verified.principal])),
    authority: organization.authority,
    organizationId: organization.organizationId,
    headSequence: opened.heads.get(prepared.prepared.command.groupId ?? '')?.position ?? 0,
    textOf: (commitment) => texts.get(commitment),
  };
  const documentFailure = prepared.documentFailure ?? admitted.documentFailure;
  const toDecide = documentFailure
    ? { ...prepared.prepared, documentRefusal: documentFailure.failure.refusal }
    : prepared.prepared;
  // Nobody makes the authority read a whole Group who may not archive it.
  if (toDecide.kind.decidesOnRecord === true && !commonRefusal(toDecide, view, context)) {
    context.record = await groupRecord(organization.organizationId, toDecide.command, opened, acceptance);
  }
  const decision = decideCommand(toDecide, view, context);
  if (isRefusal(decision)) {
    const isForDocument = documentFailure && decision === documentFailure.failure.refusal;
    return { result: { verdict: 'refused', refusal: decision, ...(isForDocument && { document: documentFailure }) } };
  }
  const registry = decision.registry && registryAddition(decision.registry, prepared.registry, now.time);
  if (registry && !registry.ok) return { result: { verdict: 'refused', refusal: registry.refusal } };
  await loadOrganizationHeads(decision.events, opened, acceptance);
  const appendContext: AppendContext = {
    organizationId: organization.organizationId,
    command: prepared.prepared.command,
    commandHash: prepared.verified.signingHash,
    now: now.time,
    authority: organization.authority,
    signer: input.keys.signerAt(now.time),
    newId,
  };
  const appended = appendEvents(decision, view, opened.heads, appendContext);
  const withheld = await marksFor(decision, appended, appendContext, acceptance);
  const parts = { prepared, decision, appended, admitted, withheld, view, context: appendContext };
  const { transition, receipt } = buildTransition(parts);
  const events = appended.events
    .filter(({ draft, position }) => seesEvent(view, input.caller.principal, draft.groupId, position))
    .map(({ body }) => freshlyAccepted(body));
  if (registry) transition.registry = registry.registry;
  input.pass('decided');
  return { write: transition, result: { verdict: 'accepted', receipt, events, withheld } };
}

/** C6: the actor itself, or a service that the policy lets relay what others signed. */
function checkCaller({ caller, prepared }: UnderLocks, { policy }: Opened): Verdict | undefined {
  if (samePrincipal(caller.principal, prepared.prepared.command.actor)) return undefined;
  const { type, id } = caller.principal;
  const relays = type === 'service' && policy.services.some(({ serviceId, relay }) => serviceId === id && relay);
  if (relays) return undefined;
  return { verdict: 'refused', refusal: refuse('AUTH_FORBIDDEN', 'the caller is not the actor of this Command') };
}

/** What came before the locks is good only while the Registry stands where it was read (MWP-SDV-010b). */
function checkRegistry({ prepared, keys }: UnderLocks, { registryRevision }: Opened): Verdict | undefined {
  const read = [
    prepared.registry.revision,
    keys.registryRevision,
    prepared.verified.registryRevision,
    ...prepared.documents.map(({ verified }) => verified.registryRevision),
  ];
  return read.every((revision) => revision === registryRevision) ? undefined : { verdict: 'registry-moved' };
}

/** MWP-EVT-003. The same content under another key is no retry: the log holds another key id for it. */
function checkReceipt({ verified }: PreparedCommand, { receipt }: Opened): Verdict | undefined {
  if (!receipt) return undefined;
  if (receipt.signingHash !== verified.signingHash) {
    const refusal = refuse('ACTION_ID_COLLISION', 'this Action ID was accepted with other content');
    return { verdict: 'refused', refusal };
  }
  if (receipt.keyId === verified.keyId) return { verdict: 'duplicate', receipt };
  const failure = trustFailure('admission', 'record-conflict');
  return { verdict: 'refused', refusal: failure.refusal, failure };
}

/** The database clock, held back to the last Event where it lags a little, so that time never runs backwards in a Group. */
function authorityTime({ now, heads }: Opened): { time: string } | { behind: string } {
  let time = now;
  for (const { streamId, lastEventAt } of heads.values()) {
    if (compareTimestamps(time, lastEventAt) >= 0) continue;
    const lag = millisFromTimestamp(lastEventAt) - millisFromTimestamp(now);
    if (lag > CLOCK_TOLERANCE_MILLISECONDS) return { behind: streamId };
    time = lastEventAt;
  }
  return { time };
}

/** The logs of Cards and sessions are protected by the registry and actor locks; their heads are read when needed. */
async function loadOrganizationHeads(
  drafts: readonly { kind: string; groupId?: string; payload: Record<string, unknown> }[],
  opened: Opened,
  acceptance: Acceptance,
): Promise<void> {
  const streamIds = drafts
    .filter(({ groupId }) => groupId === undefined)
    .map(({ kind, payload }) => organizationStream(kind, String(payload['agentId'])));
  if (streamIds.length === 0) return;
  for (const [streamId, head] of await acceptance.streamHeads(streamIds)) opened.heads.set(streamId, head);
}
