// The tables of the local store, for drizzle-kit to generate migrations from; no query is built from them.
// The triggers stand in the custom migrations beside the generated ones. Sibling of postgres/schema.ts, table by table.
import { sql } from 'drizzle-orm';
import {
  blob,
  check,
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';

const tenant = () => text('organization_id').notNull();

export const organizations = sqliteTable(
  'organizations',
  {
    organizationId: tenant(),
    slug: text('slug').notNull(),
    displayName: text('display_name').notNull(),
    createdAt: text('created_at').notNull(),
    authorityType: text('authority_type').notNull(),
    authorityId: text('authority_id').notNull(),
    identityType: text('identity_type').notNull(),
    identityId: text('identity_id').notNull(),
    registrarType: text('registrar_type').notNull(),
    registrarId: text('registrar_id').notNull(),
    registryRevision: integer('registry_revision').notNull(),
  },
  (table) => [
    primaryKey({ name: 'organizations_pkey', columns: [table.organizationId] }),
    unique('organizations_slug').on(table.slug),
    check('organizations_named', sql`organization_id <> ''`),
    check('organizations_slug_form', sql`length(slug) BETWEEN 1 AND 63 AND slug NOT GLOB '*[^a-z0-9-]*'`),
  ],
);

export const principals = sqliteTable(
  'principals',
  {
    organizationId: tenant(),
    principalType: text('principal_type').notNull(),
    principalId: text('principal_id').notNull(),
    displayName: text('display_name').notNull(),
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

export const keyBindings = sqliteTable(
  'key_bindings',
  {
    organizationId: tenant(),
    keyId: text('key_id').notNull(),
    principalType: text('principal_type').notNull(),
    principalId: text('principal_id').notNull(),
    algorithm: text('algorithm').notNull(),
    publicKey: text('public_key').notNull(),
    validFrom: text('valid_from').notNull(),
  },
  (table) => [
    // MWP-SDV-004a: a key id is never reused.
    primaryKey({ name: 'key_bindings_pkey', columns: [table.organizationId, table.keyId] }),
    // MWP-SDV-004c: one public key, one key id.
    unique('key_bindings_public_key').on(table.organizationId, table.publicKey),
    foreignKey({
      name: 'key_bindings_principal',
      columns: [table.organizationId, table.principalType, table.principalId],
      foreignColumns: [principals.organizationId, principals.principalType, principals.principalId],
    }),
    index('key_bindings_by_principal').on(table.organizationId, table.principalType, table.principalId, table.keyId),
    check('key_bindings_algorithm', sql`algorithm = 'Ed25519'`),
  ],
);

export const keyValidity = sqliteTable(
  'key_validity',
  {
    organizationId: tenant(),
    keyId: text('key_id').notNull(),
    sequence: integer('sequence').notNull(),
    recordedAt: text('recorded_at').notNull(),
    validUntil: text('valid_until'),
    revokedAt: text('revoked_at'),
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

export const sealedKeys = sqliteTable(
  'sealed_keys',
  {
    organizationId: tenant(),
    keyId: text('key_id').notNull(),
    principalType: text('principal_type').notNull(),
    principalId: text('principal_id').notNull(),
    sealed: text('sealed').notNull(),
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

export const policies = sqliteTable(
  'policies',
  {
    organizationId: tenant(),
    version: integer('version').notNull(),
    document: text('document').notNull(),
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

export const registryLog = sqliteTable(
  'registry_log',
  {
    organizationId: tenant(),
    revision: integer('revision').notNull(),
    recordedAt: text('recorded_at').notNull(),
    changes: text('changes').notNull(),
    hash: text('hash').notNull(),
    seal: text('seal').notNull(),
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

export const streams = sqliteTable(
  'streams',
  {
    organizationId: tenant(),
    streamId: text('stream_id').notNull(),
    streamKind: text('stream_kind').notNull(),
    position: integer('position').notNull(),
    revision: integer('revision').notNull(),
    lastEventAt: text('last_event_at').notNull(),
    chainHash: text('chain_hash').notNull(),
    logHash: text('log_hash').notNull(),
    policyPosition: integer('policy_position').notNull(),
    rootGroupId: text('root_group_id').notNull(),
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

export const events = sqliteTable(
  'events',
  {
    organizationId: tenant(),
    streamId: text('stream_id').notNull(),
    position: integer('position').notNull(),
    eventId: text('event_id').notNull(),
    kind: text('kind').notNull(),
    groupId: text('group_id').notNull(),
    aggregateRevision: integer('aggregate_revision'),
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id').notNull(),
    occurredAt: text('occurred_at').notNull(),
    commandHash: text('command_hash').notNull(),
    signingHash: text('signing_hash').notNull(),
    keyId: text('key_id').notNull(),
    chainHash: text('chain_hash').notNull(),
    admissionRecordId: text('admission_record_id').notNull(),
    trustedAcceptedAt: text('trusted_accepted_at').notNull(),
    revision: integer('revision').notNull(),
    body: text('body'),
  },
  (table) => [
    primaryKey({ name: 'events_pkey', columns: [table.organizationId, table.streamId, table.position] }),
    unique('events_event_id').on(table.organizationId, table.eventId),
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

export const aggregates = sqliteTable(
  'aggregates',
  {
    organizationId: tenant(),
    kind: text('kind').notNull(),
    id: text('id').notNull(),
    groupId: text('group_id').notNull(),
    version: integer('version').notNull(),
    document: text('document').notNull(),
    hash: text('hash').notNull(),
    state: text('state'),
    holder: text('holder'),
    parent: text('parent'),
  },
  (table) => [
    primaryKey({ name: 'aggregates_pkey', columns: [table.organizationId, table.kind, table.id] }),
    index('aggregates_by_group').on(table.organizationId, table.groupId, table.kind, table.id),
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
    uniqueIndex('aggregates_one_execution_lease')
      .on(table.organizationId, table.parent)
      .where(sql`kind = 'lease' AND state = 'active' AND (document ->> 'leaseType') = 'execution'`),
    uniqueIndex('aggregates_one_coordinator_lease')
      .on(table.organizationId, sql`(document ->> 'missionId')`)
      .where(sql`kind = 'lease' AND state = 'active' AND (document ->> 'leaseType') = 'coordinator'`),
    check('aggregates_version', sql`version >= 1`),
  ],
);

export const texts = sqliteTable(
  'texts',
  {
    organizationId: tenant(),
    commitment: text('commitment').notNull(),
    eventId: text('event_id').notNull(),
    groupId: text('group_id').notNull(),
    value: text('value').notNull(),
  },
  (table) => [
    primaryKey({ name: 'texts_pkey', columns: [table.organizationId, table.groupId, table.commitment] }),
    index('texts_by_event').on(table.organizationId, table.eventId),
  ],
);

export const commands = sqliteTable(
  'commands',
  {
    organizationId: tenant(),
    signingHash: text('signing_hash').notNull(),
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id').notNull(),
    actionId: text('action_id').notNull(),
    kind: text('kind').notNull(),
    groupId: text('group_id').notNull(),
    keyId: text('key_id').notNull(),
    issuedAt: text('issued_at').notNull(),
    body: text('body'),
  },
  (table) => [primaryKey({ name: 'commands_pkey', columns: [table.organizationId, table.signingHash] })],
);

export const documents = sqliteTable(
  'documents',
  {
    organizationId: tenant(),
    signingHash: text('signing_hash').notNull(),
    documentKind: text('document_kind').notNull(),
    groupId: text('group_id').notNull(),
    keyId: text('key_id').notNull(),
    principalType: text('principal_type').notNull(),
    principalId: text('principal_id').notNull(),
    commandHash: text('command_hash').notNull(),
    body: text('body'),
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

export const admissions = sqliteTable(
  'admissions',
  {
    organizationId: tenant(),
    signingHash: text('signing_hash').notNull(),
    admissionRecordId: text('admission_record_id').notNull(),
    documentKind: text('document_kind').notNull(),
    keyId: text('key_id').notNull(),
    principalType: text('principal_type').notNull(),
    principalId: text('principal_id').notNull(),
    trustedAcceptedAt: text('trusted_accepted_at').notNull(),
    acceptedByType: text('accepted_by_type').notNull(),
    acceptedById: text('accepted_by_id').notNull(),
    streamId: text('stream_id').notNull(),
    revision: integer('revision').notNull(),
    record: text('record').notNull(),
  },
  (table) => [
    // MWP-ADM-004a: one record per logical key, one logical key per record id.
    primaryKey({ name: 'admissions_pkey', columns: [table.organizationId, table.signingHash] }),
    unique('admissions_record_id').on(table.organizationId, table.admissionRecordId),
  ],
);

export const transitions = sqliteTable(
  'transitions',
  {
    organizationId: tenant(),
    streamId: text('stream_id').notNull(),
    revision: integer('revision').notNull(),
    logHash: text('log_hash').notNull(),
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

export const receipts = sqliteTable(
  'receipts',
  {
    organizationId: tenant(),
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id').notNull(),
    actionId: text('action_id').notNull(),
    signingHash: text('signing_hash').notNull(),
    keyId: text('key_id').notNull(),
    streamId: text('stream_id').notNull(),
    revision: integer('revision').notNull(),
    primaryEventId: text('primary_event_id').notNull(),
    eventIds: text('event_ids').notNull(),
    acceptedAt: text('accepted_at').notNull(),
    body: text('body').notNull(),
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

export const policyLog = sqliteTable(
  'policy_log',
  {
    organizationId: tenant(),
    groupId: text('group_id').notNull(),
    position: integer('position').notNull(),
    entryId: text('entry_id').notNull(),
    decision: text('decision').notNull(),
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id').notNull(),
    occurredAt: text('occurred_at').notNull(),
    details: text('details').notNull(),
    eventId: text('event_id').notNull(),
    revision: integer('revision').notNull(),
  },
  (table) => [
    primaryKey({ name: 'policy_log_pkey', columns: [table.organizationId, table.groupId, table.position] }),
    unique('policy_log_entry_id').on(table.organizationId, table.entryId),
    check('policy_log_position', sql`position >= 1`),
  ],
);

export const groupSnapshots = sqliteTable(
  'group_snapshots',
  {
    organizationId: tenant(),
    groupId: text('group_id').notNull(),
    position: integer('position').notNull(),
    snapshotId: text('snapshot_id').notNull(),
    throughSequence: integer('through_sequence').notNull(),
    signingHash: text('signing_hash').notNull(),
    artifactHash: text('artifact_hash').notNull(),
    stateHash: text('state_hash').notNull(),
    packs: text('packs').notNull(),
    createdAt: text('created_at').notNull(),
    body: text('body').notNull(),
  },
  (table) => [
    // Of two processes that take the same one, the second finds the first's.
    primaryKey({ name: 'group_snapshots_pkey', columns: [table.organizationId, table.groupId, table.position] }),
    unique('group_snapshots_id').on(table.organizationId, table.snapshotId),
    foreignKey({
      name: 'group_snapshots_stream',
      columns: [table.organizationId, table.groupId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    check('group_snapshots_counts', sql`position >= 1 AND through_sequence >= 1`),
  ],
);

export const segments = sqliteTable(
  'segments',
  {
    organizationId: tenant(),
    groupId: text('group_id').notNull(),
    position: integer('position').notNull(),
    firstSequence: integer('first_sequence').notNull(),
    lastSequence: integer('last_sequence').notNull(),
    firstRevision: integer('first_revision').notNull(),
    lastRevision: integer('last_revision').notNull(),
    firstEventId: text('first_event_id').notNull(),
    lastEventId: text('last_event_id').notNull(),
    hash: text('hash').notNull(),
    size: integer('size').notNull(),
  },
  (table) => [
    // Of two processes that seal the same Events, the second finds the first's.
    primaryKey({ name: 'segments_pkey', columns: [table.organizationId, table.groupId, table.position] }),
    unique('segments_by_sequence').on(table.organizationId, table.groupId, table.lastSequence),
    unique('segments_by_revision').on(table.organizationId, table.groupId, table.lastRevision),
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

export const withheld = sqliteTable(
  'withheld',
  {
    organizationId: tenant(),
    groupId: text('group_id').notNull(),
    position: integer('position').notNull(),
    eventId: text('event_id').notNull(),
    cause: text('cause').notNull(),
    reasonCode: text('reason_code').notNull(),
    orderedBy: text('ordered_by').notNull(),
    recordedAt: text('recorded_at').notNull(),
  },
  (table) => [
    primaryKey({ name: 'withheld_pkey', columns: [table.organizationId, table.groupId, table.position, table.cause] }),
    foreignKey({
      name: 'withheld_event',
      columns: [table.organizationId, table.groupId, table.position],
      foreignColumns: [events.organizationId, events.streamId, events.position],
    }),
    index('withheld_by_event').on(table.organizationId, table.eventId),
    check('withheld_cause', sql`cause IN ('redacted', 'erased')`),
  ],
);

export const renditions = sqliteTable(
  'renditions',
  {
    organizationId: tenant(),
    groupId: text('group_id').notNull(),
    position: integer('position').notNull(),
    eventId: text('event_id').notNull(),
    cause: text('cause').notNull(),
    signingHash: text('signing_hash').notNull(),
    keyId: text('key_id').notNull(),
    signedAt: text('signed_at').notNull(),
    body: text('body').notNull(),
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
export const erasures = sqliteTable(
  'erasures',
  {
    organizationId: tenant(),
    orderedBy: text('ordered_by').notNull(),
    groupId: text('group_id').notNull(),
    firstSequence: integer('first_sequence').notNull(),
    lastSequence: integer('last_sequence').notNull(),
    state: text('state').notNull(),
    blobs: text('blobs').notNull(),
    recordedAt: text('recorded_at').notNull(),
    takenAt: text('taken_at'),
    removedAt: text('removed_at'),
    scrubbedAt: text('scrubbed_at'),
  },
  (table) => [
    primaryKey({ name: 'erasures_pkey', columns: [table.organizationId, table.orderedBy] }),
    foreignKey({
      name: 'erasures_stream',
      columns: [table.organizationId, table.groupId],
      foreignColumns: [streams.organizationId, streams.streamId],
    }),
    index('erasures_by_state').on(table.organizationId, table.state, table.orderedBy),
    check('erasures_range', sql`first_sequence >= 1 AND first_sequence <= last_sequence`),
    check('erasures_state', sql`state IN ('due', 'taken', 'removed', 'scrubbed')`),
    check(
      'erasures_times',
      sql`(taken_at IS NULL) = (state = 'due') AND (removed_at IS NULL) = (state IN ('due', 'taken'))
        AND (scrubbed_at IS NULL) = (state <> 'scrubbed') AND (state = 'taken' OR blobs = '[]')`,
    ),
  ],
);

export const uploads = sqliteTable(
  'uploads',
  {
    organizationId: tenant(),
    hash: text('hash').notNull(),
    principalType: text('principal_type').notNull(),
    principalId: text('principal_id').notNull(),
    size: integer('size').notNull(),
    recordedAtMillis: integer('recorded_at_millis').notNull(),
    state: text('state').notNull(),
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
export const blobs = sqliteTable(
  'blobs',
  {
    organizationId: tenant(),
    blobId: text('blob_id').notNull(),
    space: text('space').notNull(),
    hash: text('hash'),
    size: integer('size').notNull(),
    keptUntilMillis: integer('kept_until_millis').notNull(),
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

export const blobPieces = sqliteTable(
  'blob_pieces',
  {
    organizationId: tenant(),
    blobId: text('blob_id').notNull(),
    byteOffset: integer('byte_offset').notNull(),
    bytes: blob('bytes', { mode: 'buffer' }).notNull(),
  },
  (table) => [
    primaryKey({ name: 'blob_pieces_pkey', columns: [table.organizationId, table.blobId, table.byteOffset] }),
    foreignKey({
      name: 'blob_pieces_blob',
      columns: [table.organizationId, table.blobId],
      foreignColumns: [blobs.organizationId, blobs.blobId],
    }),
    check('blob_pieces_offset', sql`byte_offset >= 0`),
    check('blob_pieces_bytes', sql`length(bytes) > 0`),
  ],
);

export const audit = sqliteTable(
  'audit',
  {
    organizationId: tenant(),
    id: integer('id').notNull(),
    recordedAt: text('recorded_at').notNull(),
    stage: text('stage').notNull(),
    reason: text('reason').notNull(),
    code: text('code').notNull(),
    signingHash: text('signing_hash'),
    actorType: text('actor_type'),
    actorId: text('actor_id'),
    actionId: text('action_id'),
    groupId: text('group_id'),
    keyId: text('key_id'),
    receivedHash: text('received_hash'),
    documentKind: text('document_kind'),
    documentPath: text('document_path'),
    documentHash: text('document_hash'),
    documentKeyId: text('document_key_id'),
    callerType: text('caller_type'),
    callerId: text('caller_id'),
  },
  (table) => [
    primaryKey({ name: 'audit_pkey', columns: [table.organizationId, table.id] }),
    index('audit_by_group')
      .on(table.organizationId, table.groupId, table.id)
      .where(sql`group_id IS NOT NULL`),
    foreignKey({
      name: 'audit_organization',
      columns: [table.organizationId],
      foreignColumns: [organizations.organizationId],
    }),
  ],
);

export const tenantKeys = sqliteTable(
  'tenant_keys',
  {
    organizationId: tenant(),
    version: integer('version').notNull(),
    sealed: text('sealed').notNull(),
    createdAt: text('created_at').notNull(),
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
export const sealedAudits = sqliteTable(
  'sealed_audits',
  {
    organizationId: tenant(),
    groupId: text('group_id').notNull(),
    records: integer('records').notNull(),
    firstId: integer('first_id').notNull(),
    lastId: integer('last_id').notNull(),
    state: text('state').notNull(),
    format: integer('format'),
    keyVersion: integer('key_version'),
    wrappedKey: text('wrapped_key'),
    blobHash: text('blob_hash'),
    lastRecordedAt: text('last_recorded_at'),
    sealedAt: text('sealed_at'),
    purgedAt: text('purged_at'),
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

export const challenges = sqliteTable(
  'challenges',
  {
    organizationId: tenant(),
    challengeId: text('challenge_id').notNull(),
    expiresAtMillis: integer('expires_at_millis').notNull(),
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
