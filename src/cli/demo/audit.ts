// After the story: is what the service keeps what it answered? Everything here is computed from the Events as any member
// reads them, with the authority's public key and nothing else of the service.

import type { Event } from '../../protocol/documents/event.ts';
import { signingHash } from '../../trust/signing.ts';
import { foldedStateHash } from '../../worker/group-fold.ts';
import type { StateItem, WorkItemItem } from '../../worker/answers.ts';
import type { Checks } from './checks.ts';
import type { Journal } from './journal.ts';
import type { OrganizationAnswer } from './operator.ts';
import type { Lane } from './screen.ts';
import { isGenuine, keyRing, type ListedKey, type SignedByActor } from './signatures.ts';

export interface GroupRecord {
  readonly lane: Lane;
  readonly groupId: string;
  readonly events: readonly Event[];
  readonly headSequence: number;
  readonly state: StateItem;
  readonly workItems: readonly WorkItemItem[];
  /** Artifacts, Evidence and Approvals, as their makers signed them. */
  readonly documents: readonly SignedByActor[];
}

/** Counts for the summary. */
export interface AuditResult {
  readonly eventsVerified: number;
  readonly documentsVerified: number;
  readonly receiptsCompared: number;
}

/** What is audited: the Groups as a member reads them, and what their makers sent and were answered. */
export interface History {
  readonly records: readonly GroupRecord[];
  readonly organization: OrganizationAnswer;
  readonly actorKeys: readonly ListedKey[];
  readonly journal: Journal;
}

export function auditGroups({ records, organization, actorKeys, journal }: History, checks: Checks): AuditResult {
  const ofAuthority = keyRing(organization.keys.filter(({ principal }) => principal.id === organization.authority.id));
  const ofActors = keyRing(actorKeys);
  let eventsVerified = 0;
  let documentsVerified = 0;
  for (const record of records) {
    const { lane, events, documents, workItems } = record;
    const genuine = events.filter((event) => isGenuine(event, ofAuthority)).length;
    checks.equal(`${lane}: every Event bears a valid signature of the authority`, genuine, events.length);
    const signed = documents.filter((document) => isGenuine(document, ofActors)).length;
    checks.equal(
      `${lane}: Artifacts, Evidence and Approvals are as their makers signed them`,
      signed,
      documents.length,
    );
    const unfinished = workItems.filter(({ workItem }) => workItem.state !== 'verified');
    checks.equal(`${lane}: every WorkItem is verified`, unfinished, []);
    checkSequences(record, checks);
    checkState(record, organization, checks);
    eventsVerified += genuine;
    documentsVerified += signed;
  }
  return { eventsVerified, documentsVerified, receiptsCompared: checkReceipts(records, journal, checks) };
}

function checkSequences({ lane, groupId, events, headSequence }: GroupRecord, checks: Checks): void {
  const sequences = events.map(({ sequence }) => sequence);
  const gapless = Array.from({ length: headSequence }, (_, index) => index + 1);
  checks.equal(`${lane}: the sequence runs from 1 to ${headSequence} without a gap`, sequences, gapless);
  checks.equal(`${lane}: no Event of another Group`, new Set(events.map((event) => event.groupId)), new Set([groupId]));
  checks.equal(`${lane}: no Event ID twice`, new Set(events.map(({ eventId }) => eventId)).size, events.length);
}

/** Replay equivalence, from outside: the Events alone give the state that the service reports. */
function checkState(record: GroupRecord, { organizationId }: OrganizationAnswer, checks: Checks): void {
  const { lane, state } = record;
  checks.equal(
    `${lane}: folding the Events gives the authority's stateHash`,
    fold(record, organizationId),
    state.stateHash,
  );
  checks.equal(`${lane}: that state is the one after the last Event`, state.throughSequence, record.headSequence);
}

/** A history with a hole may not fold at all. */
function fold({ groupId, events }: GroupRecord, organizationId: string): string {
  try {
    return foldedStateHash(organizationId, groupId, events);
  } catch (error) {
    return `cannot be folded: ${String(error)}`;
  }
}

/** Each receipt names the Command that was sent and the Events that are stored, and each Event has its receipt. */
function checkReceipts(records: readonly GroupRecord[], journal: Journal, checks: Checks): number {
  const stored = new Map(records.flatMap(({ events }) => events).map((event) => [event.eventId, event]));
  const accepted = journal.accepted();
  const wrong: string[] = [];
  const accounted = new Set<string>();
  for (const { command, answer } of accepted) {
    const { receipt } = answer;
    if (receipt.commandHash !== command.signingHash) wrong.push(`${receipt.actionId}: commandHash`);
    for (const entry of receipt.events) {
      const event = stored.get(entry.eventId);
      accounted.add(entry.eventId);
      const same =
        event !== undefined &&
        signingHash(event) === entry.signingHash &&
        event.sequence === entry.sequence &&
        event.kind === entry.kind &&
        event.commandHash === command.signingHash;
      if (!same) wrong.push(`${receipt.actionId}: ${entry.kind}`);
    }
  }
  checks.equal('the receipts name the stored Events by their hashes', wrong, []);
  // Opening a session is the authority's own Command, so the Events that it causes in a Group have a receipt elsewhere.
  const orphans = [...stored.values()].filter(
    ({ eventId, actor }) => !accounted.has(eventId) && actor.type !== 'service',
  );
  checks.equal(
    'every Event of an actor has a receipt',
    orphans.map(({ kind }) => kind),
    [],
  );
  return accepted.length;
}
