// A tenant with a row in every table, under ids that another tenant may use as well, and everything that the store would
// show of it: two portraits differ as soon as one row does.
import { list, one } from '../../src/domain/reads.ts';
import type { GroupId, OrganizationId } from '../../src/protocol/ids.ts';
import type { SegmentRow } from '../../src/store/port/segments.ts';
import type { AuthorityStore, RowCounts, SnapshotRow } from '../../src/store/port.ts';
import { hashOf } from './blob-streams.ts';
import type { RenditionRow, WithheldRow } from '../../src/store/port/withheld.ts';
import { admissionRow, AGENT, AUTHORITY, binding, hash, newOrganization, planFor, transitionOf } from './samples.ts';

export const GROUP = 'urn:group:same' as GroupId;
export const SEALED = 'urn:group:sealed' as GroupId;
const HASH = hash('same');
const SEALED_HASH = hash('sealed');
const RECEIPT = { actor: AGENT, actionId: 'urn:action:same' };
const UPLOAD = { principal: AGENT, hash: HASH };
const FAR = '2126-01-01T00:00:00.000Z';
/** No record has these numbers: the plain one stays. */
const SEALED_AUDIT = { groupId: GROUP, records: 1, firstId: 7, lastId: 7 };

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
  for (const bytes of ['same', mark]) await store.blobs('contents').put(org, once(bytes));
  await store.organizations.recordAudit(org, { stage: 'domain', reason: mark, code: 'X', actor: AGENT });
  await store.sealedAudits.tenantKey(org, () => mark);
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
    const erased = markSample({ cause: 'erased', reasonCode: 'legal_request', orderedBy: mark });
    write.withheld.push(markSample({ orderedBy: mark }), erased);
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
    write.auditToSeal = SEALED_AUDIT;
    return { write, result: undefined };
  });
  await store.sealedAudits.complete(org, {
    ...SEALED_AUDIT,
    format: 1,
    keyVersion: 1,
    lastRecordedAt: FAR,
    wrappedKey: mark,
    blobHash: HASH,
  });
  await store.recordSnapshot(org, snapshotSample({ body: mark }), {
    ...admissionRow(SNAPSHOT_HASH, `snapshots ${GROUP}`, 1, FAR),
    admissionRecordId: 'urn:record:snapshot',
  });
  await sealAnother(store, org, mark);
  const admission = {
    ...admissionRow(RENDITION_HASH, `renditions ${GROUP}`, 1, FAR),
    admissionRecordId: 'urn:record:rendition',
  };
  await store.recordRenditions(org, [{ rendition: renditionSample({ body: mark }), admission }]);
  return org;
}

/** A Group whose one Event is sealed, so that the bodies of the first are still to be seen. */
async function sealAnother(store: AuthorityStore, org: OrganizationId, mark: string): Promise<void> {
  const plan = planFor([SEALED], { receipt: { actor: AGENT, actionId: 'urn:action:sealed' } });
  await store.acceptTransition(org, plan, async ({ now }) => ({
    write: transitionOf({ groupId: SEALED, plan, now, signingHash: SEALED_HASH }),
    result: undefined,
  }));
  const snapshotId = 'urn:snapshot:sealed';
  const signingHash = hash(snapshotId);
  await store.recordSnapshot(org, snapshotSample({ groupId: SEALED, snapshotId, signingHash }), {
    ...admissionRow(signingHash, `snapshots ${SEALED}`, 1, FAR),
    admissionRecordId: 'urn:record:snapshot:sealed',
  });
  const bodies = { events: 1, commands: [SEALED_HASH], documents: [] };
  const isSealed = await store.segments.seal(org, segmentSample({ firstEventId: mark }), bodies);
  if (!isSealed) throw new Error('the segment was refused');
}

export function segmentSample(more: Partial<SegmentRow> = {}): SegmentRow {
  return {
    groupId: SEALED,
    position: 1,
    firstSequence: 1,
    lastSequence: 1,
    firstRevision: 1,
    lastRevision: 1,
    firstEventId: 'urn:event:first',
    lastEventId: 'urn:event:last',
    hash: hash('segment'),
    size: 1,
    ...more,
  };
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

async function* once(bytes: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(bytes);
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
        record: await acceptance.record().refusals(GROUP),
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
    eventAt: await reader.eventAt(GROUP, 1),
    latestSegment: await reader.latestSegment(SEALED),
    segmentsFrom: await reader.segmentsFrom(SEALED, 1, 10),
    segmentOfRevision: await reader.segmentOfRevision(SEALED, 1),
    audit: await reader.audit(0, 10),
    refusals: await reader.refusals(GROUP),
    sealedAudit: await reader.sealedAudit(GROUP),
    tenantKey: await reader.tenantKey(1),
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
    due: await store.sealedAudits.due(org, '', 10),
    erasures: await store.erasures.inState(org, 'due', '', 10),
    sealedAt: await store.erasures.sealedAt(org, [segmentSample().hash]),
    expired: await store.sealedAudits.expired(org, '2127-01-01T00:00:00.000Z', '', 10),
    policy: await organizations.policy(org),
    standings: await store.segments.standings(org, '', 10),
    standing: await store.segments.standing(org, SEALED),
    outsideWindow: await store.segments.outsideWindow(org, GROUP, { events: 0, bytes: 1, since: FAR }),
    blobs: await Promise.all(['same', 'a', 'b', 'c', 'd'].map((bytes) => sizeOf(store, org, bytes))),
  };
}

function sizeOf(store: AuthorityStore, org: OrganizationId, bytes: string): Promise<number | undefined> {
  return store.blobs('contents').size(org, hashOf(Buffer.from(bytes)));
}
