// A tenant with a row in every table, under ids that another tenant may use as well, and everything that the store would
// show of it: two portraits differ as soon as one row does.
import { list, one } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { AuthorityStore, RowCounts, SnapshotRow } from '../../src/store/port.ts';
import type { RenditionRow, WithheldRow } from '../../src/store/port/withheld.ts';
import { admissionRow, AGENT, AUTHORITY, binding, hash, newOrganization, planFor, transitionOf } from './samples.ts';

export const GROUP = 'urn:group:same' as GroupId;
const HASH = hash('same');
const RECEIPT = { actor: AGENT, actionId: 'urn:action:same' };
const UPLOAD = { principal: AGENT, hash: HASH };
const FAR = '2126-01-01T00:00:00.000Z';

/** `mark` is the one thing that tells two tenants apart. */
export async function fillEveryTable(store: AuthorityStore, mark: string): Promise<OrganizationId> {
  const created = newOrganization(mark);
  const org = created.organization.organizationId;
  await store.organizations.create(created);
  await store.organizations.changeRegistry(org, {
    principals: [{ principal: AGENT, displayName: mark }],
    bindings: [binding(AGENT, 'urn:key:1', '1'.repeat(43))],
    validity: [{ keyId: 'urn:key:1', recordedAt: FAR, validUntil: FAR }],
  });
  await store.organizations.consumeChallenge(org, 'urn:challenge:same', FAR);
  await store.uploads.complete(org, { ...UPLOAD, size: mark.length });
  await store.organizations.recordAudit(org, { stage: 'domain', reason: mark, code: 'X', actor: AGENT });
  const plan = planFor([GROUP], { receipt: RECEIPT });
  await store.acceptTransition(org, plan, async ({ now }) => {
    const write = transitionOf({
      groupId: GROUP,
      plan,
      now,
      signingHash: HASH,
      policyEntries: 1,
      texts: [{ commitment: 'same', value: JSON.stringify(mark) }],
      aggregates: [{ kind: 'session', id: 'urn:session:same', document: { agentId: AGENT.id, mark } }],
    });
    write.withheld.push(markSample({ orderedBy: mark }));
    const [event] = write.events;
    const [admission] = write.admissions;
    const [entry] = write.policyLog;
    Object.assign(event ?? {}, { eventId: 'urn:event:same', body: JSON.stringify(mark) });
    Object.assign(admission ?? {}, { admissionRecordId: 'urn:record:same', record: JSON.stringify(mark) });
    Object.assign(entry ?? {}, { entryId: 'urn:entry:same', details: JSON.stringify(mark) });
    write.documents.push({
      signingHash: HASH,
      documentKind: 'artifact',
      groupId: GROUP,
      keyId: 'urn:key:1',
      principal: AUTHORITY,
      commandHash: HASH,
      body: JSON.stringify(mark),
    });
    return { write, result: undefined };
  });
  await store.recordSnapshot(org, snapshotSample({ body: mark }), {
    ...admissionRow(SNAPSHOT_HASH, `snapshots ${GROUP}`, 1, FAR),
    admissionRecordId: 'urn:record:snapshot',
  });
  const admission = {
    ...admissionRow(RENDITION_HASH, `renditions ${GROUP}`, 1, FAR),
    admissionRecordId: 'urn:record:rendition',
  };
  await store.recordRenditions(org, [{ rendition: renditionSample({ body: mark }), admission }]);
  return org;
}

const SNAPSHOT_HASH = hash('snapshot');
const RENDITION_HASH = hash('rendition');

export function markSample(more: Partial<WithheldRow> = {}): WithheldRow {
  return {
    groupId: GROUP,
    position: 1,
    eventId: 'urn:event:same',
    cause: 'redacted',
    reasonCode: 'message_redacted',
    orderedBy: 'urn:event:ordering',
    recordedAt: FAR,
    ...more,
  };
}

export function renditionSample(more: Partial<RenditionRow> = {}): RenditionRow {
  return {
    groupId: GROUP,
    position: 1,
    eventId: 'urn:event:same',
    cause: 'redacted',
    signingHash: RENDITION_HASH,
    keyId: 'urn:key:1',
    signedAt: FAR,
    body: '{}',
    ...more,
  };
}

export function snapshotSample(more: Partial<SnapshotRow> = {}): SnapshotRow {
  return {
    groupId: GROUP,
    position: 1,
    snapshotId: 'urn:snapshot:same',
    throughSequence: 1,
    signingHash: SNAPSHOT_HASH,
    artifactHash: hash('artifact'),
    stateHash: hash('state'),
    packs: '[]',
    createdAt: FAR,
    body: '{}',
    ...more,
  };
}

/** Apart from the portrait: to count all there is of a tenant, a database may well read a whole table. */
export function countsOf(store: AuthorityStore, org: OrganizationId): Promise<RowCounts> {
  return store.read(org, (reader) => reader.rowCounts());
}

export async function portraitOf(store: AuthorityStore, org: OrganizationId): Promise<unknown> {
  const { organizations } = store;
  const reads = [one('session', 'urn:session:same'), list('session', { groupId: GROUP })];
  const locked = await store.acceptTransition(
    org,
    planFor([GROUP], { receipt: RECEIPT, signingHashes: [HASH], reads }),
    async ({ now: _, ...found }, acceptance) => ({
      result: {
        ...found,
        texts: await acceptance.texts(GROUP, ['same']),
        said: await acceptance.eventsOfMessage({
          groupId: GROUP,
          messageId: 'urn:message:same',
          author: AGENT,
          commitments: ['same'],
        }),
        streams: await acceptance.streamHeads([GROUP]),
        more: await acceptance.load(reads),
      },
    }),
  );
  const read = await store.read(org, async (reader) => ({
    policy: await reader.policy(),
    load: await reader.load(reads),
    page: await reader.page({ kind: 'session', limit: 10 }),
    texts: await reader.texts(GROUP, ['same']),
    allTexts: await reader.texts(GROUP, ['same'], 'all'),
    withheldEvents: await reader.withheldEvents(GROUP, 1, 10),
    renditionRows: await reader.renditionRows(GROUP, 1, 10),
    stream: await reader.stream(GROUP),
    streamIds: await reader.streamIds(),
    events: await reader.events(GROUP, 0, 10),
    event: await reader.event('urn:event:same'),
    eventsById: await reader.eventsById(['urn:event:same']),
    receipt: await reader.receipt(RECEIPT),
    command: await reader.command(HASH),
    document: await reader.document(HASH),
    admission: await reader.admission(HASH),
    policyLog: await reader.policyLog(GROUP, 0, 10),
    latestSnapshot: await reader.latestSnapshot(GROUP),
    snapshot: await reader.snapshot(GROUP, 'urn:snapshot:same'),
    snapshots: await reader.snapshots(GROUP, 0, 10),
    aggregateHashes: await reader.aggregateHashes(GROUP),
    audit: await reader.audit(0, 10),
    upload: await reader.upload(UPLOAD),
    streamRows: await reader.streamRows('', 10),
    transitions: await reader.transitions(GROUP, 0, 10),
    commands: await reader.commands([HASH]),
    documents: await reader.documents([HASH]),
    admissions: await reader.admissions([HASH]),
    receipts: await reader.receipts([RECEIPT]),
    aggregateRows: await reader.aggregateRows([{ kind: 'session', id: 'urn:session:same' }]),
    textRows: await reader.textRows(GROUP, ['same']),
    registered: await reader.registered(),
    registry: await reader.registrySince(0),
  }));
  return {
    locked,
    read,
    principals: await organizations.principals(org, '', 10),
    bindings: await organizations.bindings(org, AGENT),
    registry: await organizations.registrySince(org, 0),
    evidence: await organizations.keyEvidence(org, ['urn:key:1', 'urn:key:authority', 'urn:key:none']),
    sealedKeys: await organizations.sealedKeys(org),
    policy: await organizations.policy(org),
  };
}
