// The pipeline of design section 4, in order: prepare, lock and load, decide, commit once; only then answer.
import { randomUUID } from 'node:crypto';
import type { Command } from '../domain/decider.ts';
import { membershipKey } from '../domain/aggregates.ts';
import { one } from '../domain/reads.ts';
import { View } from '../domain/view.ts';
import { seesEvent } from '../domain/visibility.ts';
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { deliverable } from '../delivery/rendered.ts';
import { Renditions } from '../delivery/renditions.ts';
import type { TrustFailure } from '../trust/outcome.ts';
import type { CheckSeal } from '../trust/registry.ts';
import { passUnwatched, StoreFault } from '../store/port.ts';
import type { AuthorityStore, OrganizationRow, PassPoint, ReceiptRow } from '../store/port.ts';
import type { WithheldRow } from '../store/port/withheld.ts';
import { auditEntry, type RefusedCommand } from './audit-entry.ts';
import { authorityKeys } from './authority-keys.ts';
import { decideUnderLocks, type Verdict } from './decide-under-locks.ts';
import { UNOBSERVED, type AuthorityObserver } from './observer.ts';
import { acceptancePlan } from './plan.ts';
import type { Authority, Caller, RefusedSubmission, Submission, TenantSigners } from './ports.ts';
import { prepareCommand, type PreparedCommand } from './prepare.ts';
import { StoreEvidence } from './registry-evidence.ts';
import { aboutCommand, namesOf, outcomeOf, type Alarm, type Seen } from './seen.ts';

/** Whole runs of one Command: the Registry moved, or two transitions met in a uniqueness rule. Each sees newer rows. */
const ATTEMPTS_MAXIMUM = 4;

/** Milliseconds; what could not be decided may be sent again after it. */
const RETRY_AFTER_MILLISECONDS = 1_000;

export interface AuthorityOptions {
  store: AuthorityStore;
  signers: TenantSigners;
  /** A fresh `urn:uuid:` id. */
  newId?: () => string;
  /** Told of what no client can cause: broken invariants, a clock that runs behind, a database that is gone. */
  alarm?: Alarm;
  observer?: AuthorityObserver;
  pass?: PassPoint;
  /** Told of each accepted Command, a repeated one too, once its answer stands. Nobody waits for it, and it never throws. */
  accepted?: (organization: OrganizationRow, command: Command) => void;
  /** Without it the Registry's log is believed for its chain alone. */
  checkSeal?: CheckSeal;
}

export function createAuthority(options: AuthorityOptions): Authority {
  return new GroupAuthority(options);
}

class GroupAuthority implements Authority {
  private readonly store: AuthorityStore;
  private readonly signers: TenantSigners;
  private readonly evidence: StoreEvidence;
  private readonly newId: () => string;
  private readonly renditions: Renditions;
  private readonly alarm: Alarm;
  private readonly observer: AuthorityObserver;
  private readonly pass: PassPoint;
  private readonly accepted: NonNullable<AuthorityOptions['accepted']>;

  constructor({ store, signers, newId, alarm, observer, pass, checkSeal, accepted }: AuthorityOptions) {
    this.store = store;
    this.signers = signers;
    this.newId = newId ?? (() => `urn:uuid:${randomUUID()}`);
    this.renditions = new Renditions({ store, signers, newId: this.newId });
    this.alarm = alarm ?? (() => {});
    this.evidence = new StoreEvidence(store.organizations, {
      ...(checkSeal && { checkSeal }),
      disbelieved: (organizationId, reason) =>
        this.alarm('the Registry of an Organization cannot be believed', new Error(reason), { tenant: organizationId }),
    });
    this.observer = observer ?? UNOBSERVED;
    this.pass = pass ?? passUnwatched;
    this.accepted = accepted ?? (() => {});
  }

  async submit(organization: OrganizationRow, bytes: Uint8Array, caller: Caller): Promise<Submission> {
    const began = performance.now();
    const seen: Seen = { organization, caller };
    const submission = await this.attempt(bytes, seen).catch((error: unknown) => {
      this.alarm('a Command could not be decided', error, aboutCommand(seen));
      return refused(undecided());
    });
    this.observer.concluded({ began, outcome: outcomeOf(submission), ...namesOf(seen), organization });
    return submission;
  }

  private async attempt(bytes: Uint8Array, seen: Seen): Promise<Submission> {
    const { organization, caller } = seen;
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt === ATTEMPTS_MAXIMUM;
      const began = performance.now();
      const judgedAt = this.evidence.revisionHeld(organization.organizationId);
      const preparation = await prepareCommand(organization.organizationId, bytes, this.evidence);
      this.observer.prepared(began);
      seen.command = preparation.ok ? preparation.command.prepared.command : (preparation.command ?? {});
      if (!preparation.ok) {
        if (!last && (await this.mayBeOutdated(organization, preparation.failure, judgedAt))) continue;
        return this.refuse(seen, bytes, preparation);
      }
      const { command } = preparation;
      this.pass('command-prepared');
      const verdict = await this.decide(organization, command, caller, last);
      if (verdict === 'again') {
        this.observer.startedOver('conflict');
        continue;
      }
      switch (verdict.verdict) {
        case 'accepted':
          this.accepted(organization, command.prepared.command);
          await this.beginRenditions(seen, verdict.withheld);
          return { accepted: true, receipt: verdict.receipt, events: verdict.events, duplicate: false };
        case 'duplicate':
          this.pass('receipt-found');
          this.accepted(organization, command.prepared.command);
          return this.repeat(organization, verdict.receipt, caller);
        case 'refused':
          return this.refuse(seen, bytes, {
            ...verdict,
            command: command.prepared.command,
            verified: command.verified,
          });
        case 'registry-moved':
          await this.evidence.catchUp(organization.organizationId);
          if (last) return refused(undecided());
          this.observer.startedOver('registry_moved');
          break;
        case 'clock-behind':
          this.observer.clockBehind();
          this.alarm(`the clock is behind the last Event of ${verdict.streamId}`, undefined, aboutCommand(seen));
          return refused(undecided());
      }
    }
  }

  /**
   * What could be told of a key is told on current evidence only (MWP-SDV-010b). An unknown key and a bad signature cost
   * the same look, so that its time tells nothing.
   */
  private async mayBeOutdated(
    { organizationId }: OrganizationRow,
    failure: TrustFailure | undefined,
    judgedAt: number | undefined,
  ): Promise<boolean> {
    const stage = failure?.diagnostic.forAudit().stage;
    if (stage !== 'key-resolution' && stage !== 'signature') return false;
    return this.evidence.catchUp(organizationId, judgedAt);
  }

  /** A uniqueness rule that did not hold means that another transition came first: look again, and see it. */
  private async decide(
    organization: OrganizationRow,
    prepared: PreparedCommand,
    caller: Caller,
    last: boolean,
  ): Promise<Verdict | 'again'> {
    const keys = await authorityKeys(organization, prepared.registry, this.signers);
    const input = { organization, prepared, caller, keys, newId: this.newId, pass: this.pass };
    try {
      return await this.store.acceptTransition(
        organization.organizationId,
        acceptancePlan(prepared),
        (opened, acceptance) => decideUnderLocks(input, opened, acceptance),
      );
    } catch (error) {
      if (!(error instanceof StoreFault) || error.kind !== 'conflict') throw error;
      if (!last) return 'again';
      // The exclusive registry lock leaves only the uniqueness rules of keys to refuse a Card time and again.
      if (prepared.prepared.kind.locks?.organization !== 'exclusive') throw error;
      const refusal = refuse('INVALID_COMMAND', 'a key id or public key of the Card is already bound otherwise');
      return { verdict: 'refused', refusal };
    }
  }

  /** The original receipt; its Events as this caller may see them now. */
  private async repeat(organization: OrganizationRow, receipt: ReceiptRow, caller: Caller): Promise<Submission> {
    const events = await this.renditions.read(organization.organizationId, async (reader) => {
      const rows = await reader.eventsById(receipt.eventIds);
      const view = new View();
      const groups = [...new Set(rows.map(({ groupId }) => groupId))].filter((groupId) => groupId !== '');
      const reads = groups.flatMap((groupId) => [
        one('membership', membershipKey(groupId, caller.principal)),
        one('group', groupId),
      ]);
      view.admit(reads, await reader.load(reads));
      const seen = rows.filter(({ groupId, position }) =>
        seesEvent(view, caller.principal, groupId || undefined, position),
      );
      return deliverable(reader, seen, { organization, principal: caller.principal });
    });
    return { accepted: true, receipt: receipt.body, events, duplicate: true };
  }

  /** What was accepted stands either way: whoever gets one of these Events makes what is missing. */
  private async beginRenditions(seen: Seen, marks: readonly WithheldRow[]): Promise<void> {
    if (marks.length === 0) return;
    this.pass('renditions-due');
    try {
      await this.renditions.begin(seen.organization, marks);
    } catch (error) {
      this.alarm('renditions of withheld Events could not be made yet', error, aboutCommand(seen));
    }
  }

  private async refuse(seen: Seen, bytes: Uint8Array, refusedCommand: RefusedCommand): Promise<RefusedSubmission> {
    const { organization, caller } = seen;
    const entry = auditEntry(refusedCommand, bytes, caller);
    const failure = refusedCommand.document?.failure ?? refusedCommand.failure;
    if (failure) this.observer.distrusted(failure.diagnostic.forAudit().stage);
    this.pass('audit-due');
    try {
      await this.store.organizations.recordAudit(organization.organizationId, entry);
      this.pass('audit-recorded');
    } catch (error) {
      this.alarm('an audit record could not be written', error, aboutCommand(seen));
    }
    return refused(refusedCommand.refusal, refusedCommand.command);
  }
}

function undecided(): Refusal {
  return refuse('INTERNAL_ERROR', 'the Command could not be decided; nothing was changed by this attempt', {
    retryAfterMs: RETRY_AFTER_MILLISECONDS,
  });
}

/** The sender's own words are given back, never the name of a Group that it may not see. */
function refused(refusal: Refusal, command?: Partial<Command>): RefusedSubmission {
  return {
    accepted: false,
    refusal,
    occurredAt: new Date().toISOString(),
    ...(command?.actionId !== undefined && { relatedActionId: command.actionId }),
    ...(command?.groupId !== undefined && refusal.code !== 'GROUP_NOT_FOUND' && { groupId: command.groupId }),
  };
}
