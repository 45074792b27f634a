// Who looks after the Groups of all tenants beside the traffic: first what is to be erased, then one Group at a time, those that
// moved when they may need it, all of them once in an hour. Several processes may do the same work at once; then one of them wins each step.
import type { OrganizationId } from '../../protocol/ids.ts';
import type { Policy } from '../../domain/policy.ts';
import type { AuthorityStore, OrganizationRow } from '../../store/port.ts';
import type { GroupStanding } from '../../store/port/segments.ts';
import { eraseDue, scrubRemoved, type ErasureParts, type ErasureTold } from '../erasure/erasures.ts';
import { lookAt, type Look, type UpkeepParts } from './group.ts';

/** Milliseconds from one round over the Groups that moved to the next. */
const ROUND_INTERVAL_DEFAULT = 5_000;
/** Rounds until all Groups are looked at: for windows of time, other processes and what was left behind. */
const ROUNDS_PER_WALK = 720;
/** Groups or Organizations read in one go. */
const PAGE = 200;
/** Events at most until a Group that moves is looked at again: its policy may be another by then. */
const EVENTS_TO_GO_MAXIMUM = 1_000;

export interface Told {
  organization: OrganizationRow;
  groupId: string;
}

export interface UpkeepOptions extends UpkeepParts {
  /** Told of each look that did something, and of each that failed. */
  looked: (look: Look, about: Told) => void;
  failed: (error: unknown, about: Partial<Told>) => void;
  /** Absent: who composes this erases nothing. */
  erasing?: ErasureParts & ErasureTold;
  /** Milliseconds from one round to the next. */
  roundInterval?: number;
}

interface Moving {
  organizationId: OrganizationId;
  groupId: string;
  /** Transitions until it is looked at. */
  toGo: number;
}

export class Upkeep {
  private readonly options: UpkeepOptions;
  private readonly moving = new Map<string, Moving>();
  /** Something may be to be erased here, or was not erased at the last look. */
  private readonly erasable = new Set<OrganizationId>();
  /** They never change once made. */
  private readonly organizations = new Map<OrganizationId, OrganizationRow>();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  private rounds = 0;
  private stopped = false;

  constructor(options: UpkeepOptions) {
    this.options = options;
  }

  /** The same store, whose acceptances are noticed. */
  watching(store: AuthorityStore): AuthorityStore {
    return {
      ...store,
      acceptTransition: async (organizationId, plan, decide) => {
        const result = await store.acceptTransition(organizationId, plan, decide);
        for (const groupId of plan.groups) this.moved(organizationId, groupId);
        return result;
      },
    };
  }

  start(): void {
    const { roundInterval = ROUND_INTERVAL_DEFAULT } = this.options;
    this.timer = setInterval(() => void this.round(), roundInterval).unref();
  }

  /** Resolves when no look is under way; none begins after it. Safe to call twice. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.working;
  }

  /** One at a time; who calls while one is under way waits for that one. Never rejects. */
  round(): Promise<void> {
    this.working ??= this.work().finally(() => (this.working = undefined));
    return this.working;
  }

  private moved(organizationId: OrganizationId, groupId: string): void {
    this.erasable.add(organizationId);
    const key = keyOf(organizationId, groupId);
    const known = this.moving.get(key);
    if (known) known.toGo -= 1;
    else this.moving.set(key, { organizationId, groupId, toGo: 0 });
  }

  private async work(): Promise<void> {
    const isWalk = this.rounds % ROUNDS_PER_WALK === 0;
    this.rounds += 1;
    try {
      if (isWalk) await this.readOrganizations();
      await this.erase(isWalk ? [...this.organizations.keys()] : [...this.erasable]);
      if (isWalk) await this.walk();
      else await this.visitMoving();
    } catch (error) {
      this.options.failed(error, {});
    }
  }

  private async erase(organizationIds: readonly OrganizationId[]): Promise<void> {
    const { erasing } = this.options;
    if (!erasing) return;
    const looked: OrganizationRow[] = [];
    for (const organizationId of organizationIds) {
      if (this.stopped) return;
      const organization = await this.organization(organizationId);
      if (!organization) continue;
      // Before the look: what is accepted during it is looked at again.
      this.erasable.delete(organizationId);
      looked.push(organization);
      if (!(await eraseDue(erasing, organization, erasing))) this.erasable.add(organizationId);
    }
    try {
      await scrubRemoved(erasing, looked, erasing);
    } catch (error) {
      for (const { organizationId } of looked) this.erasable.add(organizationId);
      this.options.failed(error, {});
    }
  }

  private async visitMoving(): Promise<void> {
    const due = [...this.moving.values()].filter(({ toGo }) => toGo <= 0);
    for (const organizationId of new Set(due.map((moving) => moving.organizationId))) {
      const organization = await this.organization(organizationId);
      if (!organization) continue;
      const policy = await this.options.store.organizations.policy(organizationId);
      for (const moving of due) {
        if (this.stopped) return;
        if (moving.organizationId === organizationId) await this.look(organization, moving.groupId, policy);
      }
    }
  }

  private async walk(): Promise<void> {
    this.moving.clear();
    const { store } = this.options;
    for (const organization of this.organizations.values()) {
      const { organizationId } = organization;
      const policy = await store.organizations.policy(organizationId);
      for (let after = ''; ;) {
        const page = await store.segments.standings(organizationId, after, PAGE);
        for (const standing of page) {
          if (this.stopped) return;
          if (mayNeedALook(standing, policy)) await this.look(organization, standing.groupId, policy);
        }
        if (page.length < PAGE) break;
        after = page.at(-1)?.groupId ?? '';
      }
    }
  }

  /** What is left of a long one has its turn in the next round. */
  private async look(organization: OrganizationRow, groupId: string, policy: Policy): Promise<void> {
    const { organizationId } = organization;
    let toGo = EVENTS_TO_GO_MAXIMUM;
    try {
      const look = await lookAt(this.options, organization, groupId, policy);
      if (look.sealed > 0 || look.snapshotThrough !== undefined) this.options.looked(look, { organization, groupId });
      toGo = look.isUnfinished ? 0 : Math.min(look.eventsToGo, EVENTS_TO_GO_MAXIMUM);
    } catch (error) {
      this.options.failed(error, { organization, groupId });
    }
    this.moving.set(keyOf(organizationId, groupId), { organizationId, groupId, toGo });
  }

  private async organization(organizationId: OrganizationId): Promise<OrganizationRow | undefined> {
    if (!this.organizations.has(organizationId)) await this.readOrganizations();
    return this.organizations.get(organizationId);
  }

  private async readOrganizations(): Promise<void> {
    for (let after = ''; ;) {
      const page = await this.options.store.organizations.all(after, PAGE);
      for (const row of page) this.organizations.set(row.organizationId, row);
      if (page.length < PAGE) return;
      after = page.at(-1)?.slug ?? '';
    }
  }
}

function keyOf(organizationId: string, groupId: string): string {
  return `${organizationId} ${groupId}`;
}

function mayNeedALook(standing: GroupStanding, { onlineWindow, snapshotEvery }: Policy): boolean {
  const { headSequence, sealedThrough, snapshotThrough } = standing;
  if (headSequence - snapshotThrough >= snapshotEvery) return true;
  if (headSequence - sealedThrough > onlineWindow.events) return true;
  return headSequence > sealedThrough && (onlineWindow.bytes !== undefined || onlineWindow.days !== undefined);
}
