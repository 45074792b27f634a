// What a member can read of one Group, typed. Lists come whole: their pages are fetched one after the other, up to a bound.

import type { Event } from '../protocol/documents/event.ts';
import type {
  EventPage,
  GroupItem,
  GroupLists,
  MessageItem,
  Page,
  SnapshotItem,
  StateItem,
  WorkItemItem,
} from './answers.ts';
import { GroupFollower, type Follows } from './follower.ts';
import { projectionFile } from './projection-file.ts';
import { restoreGroup, type ExpectedSnapshot, type Restored } from './restore.ts';
import type { AuthorityClient, CallOptions } from './client.ts';
import { done, failed, type Outcome } from './outcome.ts';

const PAGE_SIZE = 200;
/** 200,000 entries: beyond it a reader wants a cursor of its own, not one array. */
const PAGES_MAXIMUM = 1_000;

export class GroupReader {
  readonly groupId: string;
  private readonly client: AuthorityClient;
  private readonly path: string;

  constructor(client: AuthorityClient, groupId: string) {
    this.client = client;
    this.groupId = groupId;
    this.path = `/groups/${encodeURIComponent(groupId)}`;
  }

  group(options?: CallOptions): Promise<Outcome<GroupItem>> {
    return this.client.read(this.path, options);
  }

  workItem(workItemId: string, options?: CallOptions): Promise<Outcome<WorkItemItem>> {
    return this.client.read(`${this.path}/work-items/${encodeURIComponent(workItemId)}`, options);
  }

  state(options?: CallOptions): Promise<Outcome<StateItem>> {
    return this.client.read(`${this.path}/state`, options);
  }

  /** Asks the authority to sign the state as it stands; it answers the latest snapshot where nothing came since. */
  takeSnapshot(options?: CallOptions): Promise<Outcome<SnapshotItem>> {
    return this.client.request(`${this.path}/snapshots`, options);
  }

  /**
   * The state of a snapshot, of the latest one where none is named, once it has passed every check of restoreGroup. The
   * outcome's value says which check failed where one did; rejects where the stream breaks off.
   */
  async restore(
    expected: Omit<ExpectedSnapshot, 'groupId'>,
    options?: CallOptions,
    snapshotId = 'latest',
  ): Promise<Outcome<Restored>> {
    const path = `${this.path}/snapshots/${encodeURIComponent(snapshotId)}`;
    const found = await this.client.read<SnapshotItem>(path, options);
    if (!found.ok) return found;
    const { snapshot, details } = found.value;
    const state = await this.client.stream(details.statePath, options);
    if (!state.ok) return state;
    const offered = { snapshot, admissionRecord: details.admissionRecord, state: () => state.value };
    return done(await restoreGroup(offered, { ...expected, groupId: this.groupId }));
  }

  list<Name extends keyof GroupLists>(name: Name, options?: CallOptions): Promise<Outcome<GroupLists[Name][]>> {
    return this.whole<GroupLists[Name]>(`${this.path}/${name}`, options);
  }

  messages(conversationId: string, options?: CallOptions): Promise<Outcome<MessageItem[]>> {
    return this.whole<MessageItem>(
      `${this.path}/conversations/${encodeURIComponent(conversationId)}/messages`,
      options,
    );
  }

  /** One page of the replay, strictly after that sequence. */
  eventPage(after: number, options?: CallOptions): Promise<Outcome<EventPage>> {
    return this.client.read(`${this.path}/events?after=${after}&limit=${PAGE_SIZE}`, options);
  }

  /** Keeps a projection of the Group up to date, also over long gaps; from the first Event. */
  follower(expected: Follows): GroupFollower {
    return new GroupFollower(this, expected);
  }

  /** As `follower`, kept in that file over restarts. Its folder exists, and one follower at a time has it. */
  keptFollower(expected: Follows, path: string): Promise<GroupFollower> {
    const { organizationId } = expected;
    return GroupFollower.resume(this, expected, projectionFile(path, { organizationId, groupId: this.groupId }));
  }

  /** One page of the history, wherever it lies. */
  historyPage(from: number, to: number, options?: CallOptions): Promise<Outcome<EventPage>> {
    return this.client.read(`${this.path}/history?from=${from}&to=${to}&limit=${PAGE_SIZE}`, options);
  }

  /** The replay from there to the head as it stood at the last page. */
  async events(after = 0, options?: CallOptions): Promise<Outcome<Event[]>> {
    const events: Event[] = [];
    let cursor = after;
    for (let pages = 0; pages < PAGES_MAXIMUM; pages += 1) {
      const page = await this.eventPage(cursor, options);
      if (!page.ok) return page;
      events.push(...page.value.items);
      cursor = page.value.throughSequence;
      if (page.value.next === undefined) return done(events);
    }
    return tooLong();
  }

  private async whole<Item>(path: string, options?: CallOptions): Promise<Outcome<Item[]>> {
    const items: Item[] = [];
    let after = '';
    for (let pages = 0; pages < PAGES_MAXIMUM; pages += 1) {
      const page = await this.client.read<Page<Item>>(`${path}?limit=${PAGE_SIZE}${after}`, options);
      if (!page.ok) return page;
      items.push(...page.value.items);
      if (page.value.next === undefined) return done(items);
      after = `&after=${encodeURIComponent(page.value.next)}`;
    }
    return tooLong();
  }
}

function tooLong() {
  return failed({ kind: 'unreadable', status: 200, message: 'the list is too long to be read whole' });
}
