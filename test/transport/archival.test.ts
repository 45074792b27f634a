// The whole service, from the archival of a Group to what an auditor is shown of it after a restart.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Accepted } from '../../src/worker/answers.ts';
import { signCommand, type CommandDraft, type Epochs } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { ARCHIVE } from '../support/archival.ts';
import type { Mission } from '../support/mission.ts';
import { ENGINES, newMission, newPlace, Serving, SLUG, type Place } from '../support/serving.ts';

const AUDIT_OF = (groupId: string) => `/audit?groupId=${encodeURIComponent(groupId)}`;

interface AuditPage {
  items: { id: number; actionId: string; code: string }[];
}

describe.each(ENGINES)('archival over HTTP on %s', (engine) => {
  let place: Place;
  let serving: Serving;
  let archivist: ActorKey;
  let mission: Mission;
  beforeEach(async () => {
    place = await newPlace(engine);
    serving = await Serving.start(place.environment);
    await serving.people();
    archivist = generateActorKey({ type: 'service', id: 'urn:test:service:archivist' });
    const { principal, keyId, publicKey } = archivist;
    const register = { principal, displayName: 'Archivist', keys: [{ keyId, publicKey }] };
    expect((await serving.operate('POST', `/organizations/${SLUG}/principals`, register)).status).toBe(201);
    const policy = (await (await serving.operate('GET', `/organizations/${SLUG}/policy`)).json()) as {
      services: object[];
    };
    const rights = { serviceId: principal.id, kinds: [ARCHIVE], relay: false };
    const changed = { ...policy, services: [...policy.services, rights], auditors: [principal] };
    expect((await serving.operate('PUT', `/organizations/${SLUG}/policy`, changed)).status).toBe(200);
    mission = newMission(serving.olga, serving.ada);
    await accept(serving.olga, mission.creation());
  });
  afterEach(async () => {
    await serving.service.stop();
    place.giveBack();
  });

  async function submit(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}) {
    const answer = await serving.submit(key, signCommand(key, draft, epochs).bytes);
    return { status: answer.status, json: (await answer.json()) as Accepted & { code: string; message: string } };
  }
  async function accept(key: ActorKey, draft: CommandDraft, epochs: Epochs = {}): Promise<Accepted> {
    const { status, json } = await submit(key, draft, epochs);
    expect([status, json.code]).toEqual([200, undefined]);
    return json;
  }
  const byOlga = (kind: CommandDraft['kind'], payload: Record<string, unknown>, actionId?: string) =>
    [
      serving.olga,
      mission.draft(kind, payload, actionId === undefined ? {} : { actionId }),
      { membershipEpoch: 1 },
    ] as const;

  async function read<Body>(key: ActorKey, below: string): Promise<Body> {
    const headers = { authorization: `Bearer ${await serving.tokenOf(key)}` };
    const answer = await fetch(`${serving.url}/v1/orgs/${SLUG}${below}`, { headers });
    expect([below, answer.status]).toEqual([below, 200]);
    return (await answer.json()) as Body;
  }

  const group = () => `/groups/${encodeURIComponent(mission.groupId)}`;
  const plainRows = async () => {
    const [organization] = await serving.service.store.organizations.all('', 1);
    return serving.service.store.read(organization!.organizationId, (reader) => reader.audit(0, 100, mission.groupId));
  };

  /** There is one, apart from contents and snapshots. */
  function sealedFile(): string {
    const { MWP_BLOBS_DIR, MWP_DATA_DIR } = place.environment;
    const folder = join(MWP_BLOBS_DIR ?? join(MWP_DATA_DIR ?? '', 'blobs'), 'audits');
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files).toHaveLength(1);
    return join(files[0]!.parentPath, files[0]!.name);
  }

  function spoil(path: string): void {
    const bytes = readFileSync(path);
    bytes[20] = (bytes[20] as number) ^ 1;
    writeFileSync(path, bytes);
  }

  it('MWP-MSN-009b: closes the Group, shows it on, and seals its refusals, which auditors read as before', async () => {
    const refused = ['urn:test:action:1', 'urn:test:action:2'];
    for (const actionId of refused) {
      expect((await submit(...byOlga('mission.approve', {}, actionId))).json.code).toBe('INVALID_COMMAND');
    }
    await accept(...byOlga('mission.cancel', { reason: 'No longer needed' }));
    const before = await read<AuditPage>(archivist, AUDIT_OF(mission.groupId));
    expect(before.items.map(({ actionId }) => actionId)).toEqual(refused);
    const headers = { authorization: `Bearer ${await serving.tokenOf(archivist)}` };
    const taken = await fetch(`${serving.url}/v1/orgs/${SLUG}${group()}/snapshots`, { method: 'POST', headers });
    const { snapshot } = (await taken.json()) as { snapshot: { snapshotId: string; throughSequence: number } };
    const draft = mission.draft(ARCHIVE, { snapshot });
    const { receipt, events } = await accept(archivist, draft);
    expect(events.map(({ kind }) => kind)).toEqual(['group.snapshot.created', 'group.archived']);
    expect(receipt.primaryEventId).toBe(events[1]?.eventId);

    await expect.poll(plainRows, { interval: 5, timeout: 5_000 }).toEqual([]);
    expect(await read<AuditPage>(archivist, AUDIT_OF(mission.groupId))).toEqual(before);
    const shown = await read<{ group: object }>(serving.olga, group());
    expect(shown.group).toMatchObject({ state: 'archived', archiveSnapshotId: snapshot.snapshotId });
    const { items } = await read<{ items: object[] }>(serving.olga, `${group()}/events?limit=200`);
    expect(items).toHaveLength(snapshot.throughSequence + 2);
    const late = await submit(...byOlga('mission.cancel', { reason: 'Again' }));
    expect([late.status, late.json.code, late.json.message]).toEqual([
      409,
      'INVALID_STATE_TRANSITION',
      'the Group is archived',
    ]);
    expect((await submit(archivist, draft)).json.code).toBe('INVALID_STATE_TRANSITION');

    await serving.service.stop();
    serving = await Serving.start(place.environment, serving);
    const after = await read<AuditPage>(archivist, AUDIT_OF(mission.groupId));
    expect(after.items.map(({ code }) => code)).toEqual([
      ...before.items.map(({ code }) => code),
      'INVALID_STATE_TRANSITION',
      'INVALID_STATE_TRANSITION',
    ]);
    expect(serving.lines('an audit could not be sealed')).toEqual([]);

    spoil(sealedFile());
    const spoilt = await fetch(`${serving.url}/v1/orgs/${SLUG}${AUDIT_OF(mission.groupId)}`, {
      headers: { authorization: `Bearer ${await serving.tokenOf(archivist)}` },
    });
    const answer = (await spoilt.json()) as { code: string; message: string };
    expect([spoilt.status, answer.code, answer.message]).toEqual([
      500,
      'INTERNAL_ERROR',
      'the sealed audit does not open',
    ]);
    expect(serving.lines('a sealed audit does not open')).toHaveLength(1);
  });
});
