// The tables of the hosted store, for drizzle-kit to generate migrations from; queries take the names of columns here.
// Row-level security, grants, triggers and functions stand in the custom migrations beside the generated ones.
import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  customType,
  foreignKey,
  index,
  json,
  pgSchema,
  primaryKey,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';

export const mwp = pgSchema('mwp');

/**
 * The condition of an index that holds every row, and that only a query which repeats the condition may use. All indexes
 * begin with the organization, so to a planner without statistics each is as good as the right one; and a connection
 * keeps the plan that was made on the first day.
 */
const ifAsked = (column: string) => sql.raw(`${column} >= ''`);

/** Ids, hashes and `…Z` times are compared byte by byte (MWP-FND-008c), never by a locale. */
const bytes = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });
const binary = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
const whole = (name: string) => bigint(name, { mode: 'number' });
const tenant = () => bytes('organization_id').notNull();

export const organizations = mwp.table(
  'organizations',
  {
    organizationId: tenant(),
    slug: bytes('slug').notNull(),
    displayName: bytes('display_name').notNull(),
    createdAt: bytes('created_at').notNull(),
    authorityType: bytes('authority_type').notNull(),
    authorityId: bytes('authority_id').notNull(),
    identityType: bytes('identity_type').notNull(),
    identityId: bytes('identity_id').notNull(),
    registrarType: bytes('registrar_type').notNull(),
    registrarId: bytes('registrar_id').notNull(),
    registryRevision: whole('registry_revision').notNull(),
  },
  (table) => [
    primaryKey({ name: 'organizations_pkey', columns: [table.organizationId] }),
    unique('organizations_slug').on(table.slug),
    check('organizations_named', sql`organization_id <> ''`),
    check('organizations_slug_form', sql`slug ~ '^[a-z0-9-]{1,63}$'`),
  ],
);

export const principals = mwp.table(
  'principals',
  {
    organizationId: tenant(),
    principalType: bytes('principal_type').notNull(),
    principalId: bytes('principal_id').notNull(),
    displayName: bytes('display_name').notNull(),
  },
  (table) => [
    primaryKey({ name: 'principals_pkey', columns: [table.organizationId, table.principalType, table.principalId] }),
    foreignKey({
      name: 'principals_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
    check('principals_type', sql`principal_type IN ('agent', 'human', 'service')`),
  ],
);

export const keyBindings = mwp.table(
  'key_bindings',
  {
    organizationId: tenant(),
    keyId: bytes('key_id').notNull(),
    principalType: bytes('principal_type').notNull(),
    principalId: bytes('principal_id').notNull(),
    algorithm: bytes('algorithm').notNull(),
    publicKey: bytes('public_key').notNull(),
    validFrom: bytes('valid_from').notNull(),
  },
  (table) => [
    // MWP-SDV-004a: a key id is never reused.
    primaryKey({ name: 'key_bindings_pkey', columns: [table.organizationId, table.keyId] }),
    // MWP-SDV-004c: one public key, one key id.
    uniqueIndex('key_bindings_public_key').on(table.organizationId, table.publicKey).where(ifAsked('public_key')),
    foreignKey({
      name: 'key_bindings_principal',
      columns: [table.organizationId, table.principalType, table.principalId],
      foreignColumns: [principals.organizationId, principals.principalType, principals.principalId],
    }),
    index('key_bindings_by_principal')
      .on(table.organizationId, table.principalType, table.principalId, table.keyId)
      .where(ifAsked('principal_id')),
    check('key_bindings_algorithm', sql`algorithm = 'Ed25519'`),
  ],
);

export const keyValidity = mwp.table(
  'key_validity',
  {
    organizationId: tenant(),
    keyId: bytes('key_id').notNull(),
    sequence: whole('sequence').notNull(),
    recordedAt: bytes('recorded_at').notNull(),
    validUntil: bytes('valid_until'),
    revokedAt: bytes('revoked_at'),
  },
  (table) => [
    primaryKey({ name: 'key_validity_pkey', columns: [table.organizationId, table.keyId, table.sequence] }),
    foreignKey({
      name: 'key_validity_binding',
      columns: [table.organizationId, table.keyId],
      foreignColumns: [keyBindings.organizationId, keyBindings.keyId],
    }),
    check('key_validity_says_something', sql`valid_until IS NOT NULL OR revoked_at IS NOT NULL`),
  ],
);

export const sealedKeys = mwp.table(
  'sealed_keys',
  {
    organizationId: tenant(),
    keyId: bytes('key_id').notNull(),
    principalType: bytes('principal_type').notNull(),
    principalId: bytes('principal_id').notNull(),
    sealed: bytes('sealed').notNull(),
  },
  (table) => [
    primaryKey({ name: 'sealed_keys_pkey', columns: [table.organizationId, table.keyId] }),
    foreignKey({
      name: 'sealed_keys_binding',
      columns: [table.organizationId, table.keyId],
      foreignColumns: [keyBindings.organizationId, keyBindings.keyId],
    }),
  ],
);

export const policies = mwp.table(
  'policies',
  {
    organizationId: tenant(),
    version: whole('version').notNull(),
    document: bytes('document').notNull(),
  },
  (table) => [
    primaryKey({ name: 'policies_pkey', columns: [table.organizationId, table.version] }),
    foreignKey({
      name: 'policies_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
  ],
);

export const registryLog = mwp.table(
  'registry_log',
  {
    organizationId: tenant(),
    revision: whole('revision').notNull(),
    recordedAt: bytes('recorded_at').notNull(),
    changes: bytes('changes').notNull(),
    hash: bytes('hash').notNull(),
    seal: bytes('seal').notNull(),
  },
  (table) => [
    primaryKey({ name: 'registry_log_pkey', columns: [table.organizationId, table.revision] }),
    foreignKey({
      name: 'registry_log_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
    check('registry_log_revision', sql`revision >= 1`),
  ],
);

export const streams = mwp.table(
  'streams',
  {
    organizationId: tenant(),
    streamId: bytes('stream_id').notNull(),
    streamKind: bytes('stream_kind').notNull(),
    position: whole('position').notNull(),
    revision: whole('revision').notNull(),
    lastEventAt: bytes('last_event_at').notNull(),
    chainHash: bytes('chain_hash').notNull(),
    logHash: bytes('log_hash').notNull(),
    policyPosition: whole('policy_position').notNull(),
    rootGroupId: bytes('root_group_id').notNull(),
  },
  (table) => [
    primaryKey({ name: 'streams_pkey', columns: [table.organizationId, table.streamId] }),
    foreignKey({
      name: 'streams_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
    check('streams_kind', sql`stream_kind IN ('group', 'organization')`),
    check('streams_counts', sql`position >= 0 AND revision >= 1 AND policy_position >= 0`),
  ],
);

export const events = mwp.table(
  'events',
  {
    organizationId: tenant(),
    streamId: bytes('stream_id').notNull(),
    position: whole('position').notNull(),
    eventId: bytes('event_id').notNull(),
    kind: bytes('kind').notNull(),
    groupId: bytes('group_id').notNull(),
    aggregateRevision: whole('aggregate_revision'),
    actorType: bytes('actor_type').notNull(),
    actorId: bytes('actor_id').notNull(),
    occurredAt: bytes('occurred_at').notNull(),
    commandHash: bytes('command_hash').notNull(),
    signingHash: bytes('signing_hash').notNull(),
    keyId: bytes('key_id').notNull(),
    chainHash: bytes('chain_hash').notNull(),
    admissionRecordId: bytes('admission_record_id').notNull(),
    trustedAcceptedAt: bytes('trusted_accepted_at').notNull(),
    revision: whole('revision').notNull(),
    body: bytes('body'),
  },
  (table) => [
    primaryKey({ name: 'events_pkey', columns: [table.organizationId, table.streamId, table.position] }),
    uniqueIndex('events_event_id').on(table.organizationId, table.eventId).where(ifAsked('event_id')),
    foreignKey({
      name: 'events_stream',
      columns: [table.organizationId, table.streamId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    // What one actor did in one Group lately: cooperation limits.
    index('events_by_actor')
      .on(table.organizationId, table.groupId, table.kind, table.actorId, table.occurredAt)
      .where(sql`group_id <> ''`),
    check('events_position', sql`position >= 1`),
  ],
);

export const aggregates = mwp.table(
  'aggregates',
  {
    organizationId: tenant(),
    kind: bytes('kind').notNull(),
    id: bytes('id').notNull(),
    groupId: bytes('group_id').notNull(),
    version: whole('version').notNull(),
    // json, not jsonb: kept as written, cheaper both ways, and it takes every string that JSON takes.
    document: json('document').notNull(),
    hash: bytes('hash').notNull(),
    state: bytes('state'),
    holder: bytes('holder'),
    parent: bytes('parent'),
    /** What of it there may be one at a time: an active execution lease of a WorkItem, Coordinator lease of a Mission. */
    exclusiveSlot: bytes('exclusive_slot').generatedAlwaysAs(
      sql`CASE WHEN kind = 'lease' AND state = 'active' THEN CASE document ->> 'leaseType'
        WHEN 'execution' THEN 'execution ' || parent WHEN 'coordinator' THEN 'coordinator ' || (document ->> 'missionId')
        END END`,
    ),
  },
  (table) => [
    primaryKey({ name: 'aggregates_pkey', columns: [table.organizationId, table.kind, table.id] }),
    index('aggregates_by_group')
      .on(table.organizationId, table.groupId, table.kind, table.id)
      .where(ifAsked('group_id')),
    index('aggregates_by_group_state')
      .on(table.organizationId, table.groupId, table.kind, table.state, table.id)
      .where(sql`state IS NOT NULL`),
    index('aggregates_by_holder')
      .on(table.organizationId, table.holder, table.kind, table.state, table.id)
      .where(sql`holder IS NOT NULL`),
    index('aggregates_by_parent')
      .on(table.organizationId, table.parent, table.kind, table.id)
      .where(sql`parent IS NOT NULL`),
    // MWP-FND-013b: a Mission and its Group pair off one to one.
    uniqueIndex('aggregates_one_mission')
      .on(table.organizationId, table.groupId)
      .where(sql`kind = 'mission'`),
    // On a column of its own: an index over the document itself would be rewritten with every change of a document.
    uniqueIndex('aggregates_exclusive')
      .on(table.organizationId, table.exclusiveSlot)
      .where(sql`exclusive_slot IS NOT NULL`),
    check('aggregates_version', sql`version >= 1`),
  ],
);

export const texts = mwp.table(
  'texts',
  {
    organizationId: tenant(),
    commitment: bytes('commitment').notNull(),
    eventId: bytes('event_id').notNull(),
    groupId: bytes('group_id').notNull(),
    value: bytes('value').notNull(),
  },
  (table) => [
    primaryKey({ name: 'texts_pkey', columns: [table.organizationId, table.groupId, table.commitment] }),
    index('texts_by_event').on(table.organizationId, table.eventId).where(ifAsked('event_id')),
  ],
);

export const commands = mwp.table(
  'commands',
  {
    organizationId: tenant(),
    signingHash: bytes('signing_hash').notNull(),
    actorType: bytes('actor_type').notNull(),
    actorId: bytes('actor_id').notNull(),
    actionId: bytes('action_id').notNull(),
    kind: bytes('kind').notNull(),
    groupId: bytes('group_id').notNull(),
    keyId: bytes('key_id').notNull(),
    issuedAt: bytes('issued_at').notNull(),
    body: bytes('body'),
  },
  (table) => [primaryKey({ name: 'commands_pkey', columns: [table.organizationId, table.signingHash] })],
);

export const documents = mwp.table(
  'documents',
  {
    organizationId: tenant(),
    signingHash: bytes('signing_hash').notNull(),
    documentKind: bytes('document_kind').notNull(),
    groupId: bytes('group_id').notNull(),
    keyId: bytes('key_id').notNull(),
    principalType: bytes('principal_type').notNull(),
    principalId: bytes('principal_id').notNull(),
    commandHash: bytes('command_hash').notNull(),
    body: bytes('body'),
  },
  (table) => [
    primaryKey({ name: 'documents_pkey', columns: [table.organizationId, table.signingHash] }),
    foreignKey({
      name: 'documents_command',
      columns: [table.organizationId, table.commandHash],
      foreignColumns: [commands.organizationId, commands.signingHash],
    }),
  ],
);

export const admissions = mwp.table(
  'admissions',
  {
    organizationId: tenant(),
    signingHash: bytes('signing_hash').notNull(),
    admissionRecordId: bytes('admission_record_id').notNull(),
    documentKind: bytes('document_kind').notNull(),
    keyId: bytes('key_id').notNull(),
    principalType: bytes('principal_type').notNull(),
    principalId: bytes('principal_id').notNull(),
    trustedAcceptedAt: bytes('trusted_accepted_at').notNull(),
    acceptedByType: bytes('accepted_by_type').notNull(),
    acceptedById: bytes('accepted_by_id').notNull(),
    streamId: bytes('stream_id').notNull(),
    revision: whole('revision').notNull(),
    record: bytes('record').notNull(),
  },
  (table) => [
    // MWP-ADM-004a: one record per logical key, one logical key per record id.
    primaryKey({ name: 'admissions_pkey', columns: [table.organizationId, table.signingHash] }),
    uniqueIndex('admissions_record_id')
      .on(table.organizationId, table.admissionRecordId)
      .where(ifAsked('admission_record_id')),
  ],
);

export const transitions = mwp.table(
  'transitions',
  {
    organizationId: tenant(),
    streamId: bytes('stream_id').notNull(),
    revision: whole('revision').notNull(),
    logHash: bytes('log_hash').notNull(),
  },
  (table) => [
    primaryKey({ name: 'transitions_pkey', columns: [table.organizationId, table.streamId, table.revision] }),
    foreignKey({
      name: 'transitions_stream',
      columns: [table.organizationId, table.streamId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
  ],
);

export const receipts = mwp.table(
  'receipts',
  {
    organizationId: tenant(),
    actorType: bytes('actor_type').notNull(),
    actorId: bytes('actor_id').notNull(),
    actionId: bytes('action_id').notNull(),
    signingHash: bytes('signing_hash').notNull(),
    keyId: bytes('key_id').notNull(),
    streamId: bytes('stream_id').notNull(),
    revision: whole('revision').notNull(),
    primaryEventId: bytes('primary_event_id').notNull(),
    eventIds: bytes('event_ids').notNull(),
    acceptedAt: bytes('accepted_at').notNull(),
    body: bytes('body').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'receipts_pkey',
      columns: [table.organizationId, table.actorType, table.actorId, table.actionId],
    }),
    foreignKey({
      name: 'receipts_command',
      columns: [table.organizationId, table.signingHash],
      foreignColumns: [commands.organizationId, commands.signingHash],
    }),
  ],
);

export const policyLog = mwp.table(
  'policy_log',
  {
    organizationId: tenant(),
    groupId: bytes('group_id').notNull(),
    position: whole('position').notNull(),
    entryId: bytes('entry_id').notNull(),
    decision: bytes('decision').notNull(),
    actorType: bytes('actor_type').notNull(),
    actorId: bytes('actor_id').notNull(),
    occurredAt: bytes('occurred_at').notNull(),
    details: bytes('details').notNull(),
    eventId: bytes('event_id').notNull(),
    revision: whole('revision').notNull(),
  },
  (table) => [
    primaryKey({ name: 'policy_log_pkey', columns: [table.organizationId, table.groupId, table.position] }),
    uniqueIndex('policy_log_entry_id').on(table.organizationId, table.entryId).where(ifAsked('entry_id')),
    check('policy_log_position', sql`position >= 1`),
  ],
);

export const groupSnapshots = mwp.table(
  'group_snapshots',
  {
    organizationId: tenant(),
    groupId: bytes('group_id').notNull(),
    position: whole('position').notNull(),
    snapshotId: bytes('snapshot_id').notNull(),
    throughSequence: whole('through_sequence').notNull(),
    signingHash: bytes('signing_hash').notNull(),
    artifactHash: bytes('artifact_hash').notNull(),
    stateHash: bytes('state_hash').notNull(),
    packs: bytes('packs').notNull(),
    createdAt: bytes('created_at').notNull(),
    body: bytes('body').notNull(),
  },
  (table) => [
    // Of two processes that take the same one, the second finds the first's.
    primaryKey({ name: 'group_snapshots_pkey', columns: [table.organizationId, table.groupId, table.position] }),
    uniqueIndex('group_snapshots_id').on(table.organizationId, table.snapshotId).where(ifAsked('snapshot_id')),
    foreignKey({
      name: 'group_snapshots_stream',
      columns: [table.organizationId, table.groupId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    check('group_snapshots_counts', sql`position >= 1 AND through_sequence >= 1`),
  ],
);

export const segments = mwp.table(
  'segments',
  {
    organizationId: tenant(),
    groupId: bytes('group_id').notNull(),
    position: whole('position').notNull(),
    firstSequence: whole('first_sequence').notNull(),
    lastSequence: whole('last_sequence').notNull(),
    firstRevision: whole('first_revision').notNull(),
    lastRevision: whole('last_revision').notNull(),
    firstEventId: bytes('first_event_id').notNull(),
    lastEventId: bytes('last_event_id').notNull(),
    hash: bytes('hash').notNull(),
    size: whole('size').notNull(),
  },
  (table) => [
    // Of two processes that seal the same Events, the second finds the first's.
    primaryKey({ name: 'segments_pkey', columns: [table.organizationId, table.groupId, table.position] }),
    uniqueIndex('segments_by_sequence')
      .on(table.organizationId, table.groupId, table.lastSequence)
      .where(ifAsked('group_id')),
    uniqueIndex('segments_by_revision')
      .on(table.organizationId, table.groupId, table.lastRevision)
      .where(ifAsked('group_id')),
    foreignKey({
      name: 'segments_stream',
      columns: [table.organizationId, table.groupId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    check(
      'segments_ranges',
      sql`position >= 1 AND first_sequence <= last_sequence AND first_revision <= last_revision AND size >= 1`,
    ),
  ],
);

export const withheld = mwp.table(
  'withheld',
  {
    organizationId: tenant(),
    groupId: bytes('group_id').notNull(),
    position: whole('position').notNull(),
    eventId: bytes('event_id').notNull(),
    cause: bytes('cause').notNull(),
    reasonCode: bytes('reason_code').notNull(),
    orderedBy: bytes('ordered_by').notNull(),
    recordedAt: bytes('recorded_at').notNull(),
  },
  (table) => [
    primaryKey({ name: 'withheld_pkey', columns: [table.organizationId, table.groupId, table.position, table.cause] }),
    foreignKey({
      name: 'withheld_event',
      columns: [table.organizationId, table.groupId, table.position],
      foreignColumns: [events.organizationId, events.streamId, events.position],
    }),
    index('withheld_by_event').on(table.organizationId, table.eventId).where(ifAsked('event_id')),
    check('withheld_cause', sql`cause IN ('redacted', 'erased')`),
  ],
);

export const renditions = mwp.table(
  'renditions',
  {
    organizationId: tenant(),
    groupId: bytes('group_id').notNull(),
    position: whole('position').notNull(),
    eventId: bytes('event_id').notNull(),
    cause: bytes('cause').notNull(),
    signingHash: bytes('signing_hash').notNull(),
    keyId: bytes('key_id').notNull(),
    signedAt: bytes('signed_at').notNull(),
    body: bytes('body').notNull(),
  },
  (table) => [
    // Of two processes that make the same one, the second finds the first's.
    primaryKey({
      name: 'renditions_pkey',
      columns: [table.organizationId, table.groupId, table.position, table.cause],
    }),
    foreignKey({
      name: 'renditions_mark',
      columns: [table.organizationId, table.groupId, table.position, table.cause],
      foreignColumns: [withheld.organizationId, withheld.groupId, withheld.position, withheld.cause],
    }),
  ],
);

/** What is to be done for an Event that orders an erasure: `due`, `taken`, `removed`, `scrubbed`, in this order. */
export const erasures = mwp.table(
  'erasures',
  {
    organizationId: tenant(),
    orderedBy: bytes('ordered_by').notNull(),
    groupId: bytes('group_id').notNull(),
    firstSequence: whole('first_sequence').notNull(),
    lastSequence: whole('last_sequence').notNull(),
    state: bytes('state').notNull(),
    blobs: bytes('blobs').notNull(),
    recordedAt: bytes('recorded_at').notNull(),
    takenAt: bytes('taken_at'),
    removedAt: bytes('removed_at'),
    scrubbedAt: bytes('scrubbed_at'),
  },
  (table) => [
    primaryKey({ name: 'erasures_pkey', columns: [table.organizationId, table.orderedBy] }),
    foreignKey({
      name: 'erasures_stream',
      columns: [table.organizationId, table.groupId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    index('erasures_by_state').on(table.organizationId, table.state, table.orderedBy).where(ifAsked('state')),
    check('erasures_range', sql`first_sequence >= 1 AND first_sequence <= last_sequence`),
    check('erasures_state', sql`state IN ('due', 'taken', 'removed', 'scrubbed')`),
    check(
      'erasures_times',
      sql`(taken_at IS NULL) = (state = 'due') AND (removed_at IS NULL) = (state IN ('due', 'taken'))
        AND (scrubbed_at IS NULL) = (state <> 'scrubbed') AND (state = 'taken' OR blobs = '[]')`,
    ),
  ],
);

export const uploads = mwp.table(
  'uploads',
  {
    organizationId: tenant(),
    hash: bytes('hash').notNull(),
    principalType: bytes('principal_type').notNull(),
    principalId: bytes('principal_id').notNull(),
    size: whole('size').notNull(),
    recordedAtMillis: whole('recorded_at_millis').notNull(),
    state: bytes('state').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'uploads_pkey',
      columns: [table.organizationId, table.hash, table.principalType, table.principalId],
    }),
    foreignKey({
      name: 'uploads_principal',
      columns: [table.organizationId, table.principalType, table.principalId],
      foreignColumns: [principals.organizationId, principals.principalType, principals.principalId],
    }),
    // What counts against a quota, and what a sweep looks at: what is published is neither.
    index('uploads_unpublished')
      .on(table.organizationId, table.principalType, table.principalId, table.recordedAtMillis)
      .where(sql`state <> 'published'`),
    index('uploads_by_age')
      .on(table.organizationId, table.recordedAtMillis)
      .where(sql`state <> 'published'`),
    check('uploads_state', sql`state IN ('reserved', 'complete', 'published')`),
    check('uploads_size', sql`size >= 0`),
  ],
);

/** A blob in the database. Without a hash it is a draft, or what is left of one that was removed: found by nobody. */
export const blobs = mwp.table(
  'blobs',
  {
    organizationId: tenant(),
    blobId: bytes('blob_id').notNull(),
    space: bytes('space').notNull(),
    hash: bytes('hash'),
    size: whole('size').notNull(),
    keptUntilMillis: whole('kept_until_millis').notNull(),
  },
  (table) => [
    primaryKey({ name: 'blobs_pkey', columns: [table.organizationId, table.blobId] }),
    foreignKey({
      name: 'blobs_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
    uniqueIndex('blobs_address')
      .on(table.organizationId, table.space, table.hash)
      .where(sql`hash IS NOT NULL`),
    index('blobs_unnamed')
      .on(table.organizationId, table.space, table.keptUntilMillis)
      .where(sql`hash IS NULL`),
    check('blobs_size', sql`size >= 0`),
    check('blobs_space', sql`space <> ''`),
  ],
);

export const blobPieces = mwp.table(
  'blob_pieces',
  {
    organizationId: tenant(),
    blobId: bytes('blob_id').notNull(),
    byteOffset: whole('byte_offset').notNull(),
    bytes: binary('bytes').notNull(),
  },
  (table) => [
    primaryKey({ name: 'blob_pieces_pkey', columns: [table.organizationId, table.blobId, table.byteOffset] }),
    foreignKey({
      name: 'blob_pieces_blob',
      columns: [table.organizationId, table.blobId],
      foreignColumns: [blobs.organizationId, blobs.blobId],
    }),
    check('blob_pieces_offset', sql`byte_offset >= 0`),
    check('blob_pieces_bytes', sql`octet_length(bytes) > 0`),
  ],
);

export const audit = mwp.table(
  'audit',
  {
    organizationId: tenant(),
    id: whole('id').notNull(),
    recordedAt: bytes('recorded_at').notNull(),
    stage: bytes('stage').notNull(),
    reason: bytes('reason').notNull(),
    code: bytes('code').notNull(),
    signingHash: bytes('signing_hash'),
    actorType: bytes('actor_type'),
    actorId: bytes('actor_id'),
    actionId: bytes('action_id'),
    groupId: bytes('group_id'),
    keyId: bytes('key_id'),
    receivedHash: bytes('received_hash'),
    documentKind: bytes('document_kind'),
    documentPath: bytes('document_path'),
    documentHash: bytes('document_hash'),
    documentKeyId: bytes('document_key_id'),
    callerType: bytes('caller_type'),
    callerId: bytes('caller_id'),
  },
  (table) => [
    primaryKey({ name: 'audit_pkey', columns: [table.organizationId, table.id] }),
    index('audit_by_group').on(table.organizationId, table.groupId, table.id).where(ifAsked('group_id')),
    foreignKey({
      name: 'audit_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
  ],
);

export const tenantKeys = mwp.table(
  'tenant_keys',
  {
    organizationId: tenant(),
    version: whole('version').notNull(),
    sealed: bytes('sealed').notNull(),
    createdAt: bytes('created_at').notNull(),
  },
  (table) => [
    primaryKey({ name: 'tenant_keys_pkey', columns: [table.organizationId, table.version] }),
    foreignKey({
      name: 'tenant_keys_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
    check('tenant_keys_version', sql`version >= 1`),
  ],
);

/** `due`, `sealed`, `purged`, in this order; the row stays, or numbers of records could be given twice. */
export const sealedAudits = mwp.table(
  'sealed_audits',
  {
    organizationId: tenant(),
    groupId: bytes('group_id').notNull(),
    records: whole('records').notNull(),
    firstId: whole('first_id').notNull(),
    lastId: whole('last_id').notNull(),
    state: bytes('state').notNull(),
    format: whole('format'),
    keyVersion: whole('key_version'),
    wrappedKey: bytes('wrapped_key'),
    blobHash: bytes('blob_hash'),
    lastRecordedAt: bytes('last_recorded_at'),
    sealedAt: bytes('sealed_at'),
    purgedAt: bytes('purged_at'),
  },
  (table) => [
    primaryKey({ name: 'sealed_audits_pkey', columns: [table.organizationId, table.groupId] }),
    foreignKey({
      name: 'sealed_audits_stream',
      columns: [table.organizationId, table.groupId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    index('sealed_audits_due')
      .on(table.organizationId, table.groupId)
      .where(sql`state = 'due'`),
    index('sealed_audits_by_age')
      .on(table.organizationId, table.lastRecordedAt)
      .where(sql`state = 'sealed'`),
    index('sealed_audits_by_id').on(table.organizationId, table.lastId),
    check('sealed_audits_range', sql`records >= 1 AND first_id >= 1 AND last_id >= first_id`),
    check('sealed_audits_state', sql`state IN ('due', 'sealed', 'purged')`),
    check(
      'sealed_audits_whole',
      sql`(state = 'sealed') = (wrapped_key IS NOT NULL) AND (state = 'sealed') = (blob_hash IS NOT NULL)
        AND (state <> 'sealed' OR (format IS NOT NULL AND key_version IS NOT NULL AND last_recorded_at IS NOT NULL
             AND sealed_at IS NOT NULL)) AND (state = 'purged') = (purged_at IS NOT NULL)`,
    ),
  ],
);

export const challenges = mwp.table(
  'challenges',
  {
    organizationId: tenant(),
    challengeId: bytes('challenge_id').notNull(),
    expiresAtMillis: whole('expires_at_millis').notNull(),
  },
  (table) => [
    primaryKey({ name: 'challenges_pkey', columns: [table.organizationId, table.challengeId] }),
    foreignKey({
      name: 'challenges_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
    index('challenges_by_expiry').on(table.organizationId, table.expiresAtMillis),
  ],
);
