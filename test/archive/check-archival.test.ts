// Each thing that the transition of an archival says, changed alone, is a fault: also where whoever changed it could sign.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkArchival, isArchival, type BeforeArchival } from '../../src/archive/check-archival.ts';
import { Findings } from '../../src/archive/findings.ts';
import type { RecordedTransition } from '../../src/archive/recorded.ts';
import { storedTransitions } from '../../src/archive/store-source.ts';
import type { SnapshotRow } from '../../src/store/port.ts';
import { linkOf, type SnapshotLink } from '../../src/trust/snapshot-link.ts';
import { archiveGroup, archivistOf } from '../support/archived-groups.ts';
import { STORES, type OpenedStore } from '../support/databases.ts';
import { MemoryBlobs } from '../support/snapshots.ts';
import { playOrganization, type PlayedOrganization } from './played-organization.ts';

const OTHER_HASH = `sha256:${'0'.repeat(64)}`;
type Payload = Record<string, unknown>;

describe('the proof of an archival', () => {
  let opened: OpenedStore;
  let played: PlayedOrganization;
  let row: SnapshotRow;
  let recorded: RecordedTransition;
  let before: BeforeArchival;
  beforeAll(async () => {
    opened = await STORES[0]!.open();
    played = await playOrganization(opened.store);
    const archivist = await archivistOf(played.tenant);
    ({ row } = await archiveGroup(played.tenant, played.other, archivist, new MemoryBlobs()));
    const { organizationId } = played.tenant.organization;
    const found: RecordedTransition[] = [];
    await opened.store.read(organizationId, async (reader) => {
      for await (const page of storedTransitions(row.groupId, reader)) found.push(...page.filter(isArchival));
    });
    recorded = found[0]!;
    const { head, policyLog } = linkOf(JSON.parse(row.body) as never) as SnapshotLink;
    const { groupId: streamId, throughSequence: position, stateHash, createdAt: lastEventAt } = row;
    before = { end: { streamId, position, lastEventAt, policyPosition: policyLog.through, ...head }, stateHash };
  });
  afterAll(() => opened.close());

  function faults(changed: Partial<RecordedTransition>, at: Partial<BeforeArchival> = {}): string[] {
    const findings = new Findings();
    checkArchival({ ...recorded, ...changed }, { ...before, ...at }, played.tenant.organization, findings);
    return findings.sentences();
  }

  function withPayload(index: number, change: (payload: Payload) => Payload): RecordedTransition['events'] {
    return recorded.events.map((event, at) => {
      if (at !== index) return event;
      const document = JSON.parse(event.body) as { payload: Payload };
      return { ...event, body: JSON.stringify({ ...document, payload: change(document.payload) }) };
    });
  }

  function withSnapshot(change: object): Partial<RecordedTransition> {
    const { command } = recorded;
    const embedded = command!.embedded.map((one) => ({ ...one, value: { ...(one.value as object), ...change } }));
    return { command: { ...command!, embedded } };
  }

  it('finds nothing in what the authority appended', () => {
    expect(faults({})).toEqual([]);
  });

  it('finds one Event without the other, the two in another order, and a third', () => {
    const [created, archived] = recorded.events as [never, never];
    for (const events of [[created], [archived], [archived, created], [created, archived, archived]])
      expect(faults({ events })).toEqual([expect.stringContaining('is not one snapshot and one end')]);
  });

  it('finds a snapshot of another state, place, head, policy log, signer or Organization', () => {
    for (const at of [
      { stateHash: OTHER_HASH },
      ...(['position', 'revision', 'policyPosition'] as const).map((name) => ({
        end: { ...before.end, [name]: before.end[name] - 1 },
      })),
      ...(['chainHash', 'logHash', 'streamId'] as const).map((name) => ({
        end: { ...before.end, [name]: OTHER_HASH },
      })),
    ])
      expect(faults({}, at)).toEqual([expect.stringContaining('the snapshot: not what was signed')]);
    expect(faults(withSnapshot({ createdBy: played.tenant.organization.identity }))).not.toEqual([]);
    expect(faults(withSnapshot({ policyLog: [] }))).not.toEqual([]);
    expect(faults({ command: { ...recorded.command!, embedded: [] } })).not.toEqual([]);
    const findings = new Findings();
    const { authority } = played.tenant.organization;
    checkArchival(recorded, before, { organizationId: 'urn:test:organization:other', authority }, findings);
    expect(findings.count).toBe(1);
  });

  it('finds each member of each payload changed, added or gone', () => {
    for (const index of [0, 1]) {
      const { payload } = JSON.parse(recorded.events[index]!.body) as { payload: Payload };
      for (const name of Object.keys(payload)) {
        const { [name]: _gone, ...rest } = payload;
        const other = name === 'throughSequence' ? 1 : name === 'archivedAt' ? '2000-01-01T00:00:00.000Z' : OTHER_HASH;
        expect([name, faults({ events: withPayload(index, () => rest) })]).not.toEqual([name, []]);
        expect([name, faults({ events: withPayload(index, () => ({ ...rest, [name]: other })) })]).not.toEqual([
          name,
          [],
        ]);
      }
      expect(faults({ events: withPayload(index, (all) => ({ ...all, more: 1 })) })).not.toEqual([]);
    }
  });

  it('finds a receipt that is for the snapshot', () => {
    const receipt = { ...recorded.receipt!, primaryEventId: recorded.events[0]!.eventId };
    expect(faults({ receipt })).toEqual([expect.stringContaining('its receipt is not for the end of the Group')]);
  });
});
