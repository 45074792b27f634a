CREATE SCHEMA "mwp";
--> statement-breakpoint
CREATE TABLE "mwp"."admissions" (
	"organization_id" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"admission_record_id" text COLLATE "C" NOT NULL,
	"document_kind" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"principal_type" text COLLATE "C" NOT NULL,
	"principal_id" text COLLATE "C" NOT NULL,
	"trusted_accepted_at" text COLLATE "C" NOT NULL,
	"accepted_by_type" text COLLATE "C" NOT NULL,
	"accepted_by_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"revision" bigint NOT NULL,
	"record" text COLLATE "C" NOT NULL,
	CONSTRAINT "admissions_pkey" PRIMARY KEY("organization_id","signing_hash")
);
--> statement-breakpoint
CREATE TABLE "mwp"."aggregates" (
	"organization_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"version" bigint NOT NULL,
	"document" json NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C",
	"holder" text COLLATE "C",
	"parent" text COLLATE "C",
	"exclusive_slot" text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN kind = 'lease' AND state = 'active' THEN CASE document ->> 'leaseType'
        WHEN 'execution' THEN 'execution ' || parent WHEN 'coordinator' THEN 'coordinator ' || (document ->> 'missionId')
        END END) STORED,
	CONSTRAINT "aggregates_pkey" PRIMARY KEY("organization_id","kind","id"),
	CONSTRAINT "aggregates_version" CHECK (version >= 1)
);
--> statement-breakpoint
CREATE TABLE "mwp"."audit" (
	"organization_id" text COLLATE "C" NOT NULL,
	"id" bigint NOT NULL,
	"recorded_at" text COLLATE "C" NOT NULL,
	"stage" text COLLATE "C" NOT NULL,
	"reason" text COLLATE "C" NOT NULL,
	"code" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C",
	"actor_type" text COLLATE "C",
	"actor_id" text COLLATE "C",
	"action_id" text COLLATE "C",
	"group_id" text COLLATE "C",
	CONSTRAINT "audit_pkey" PRIMARY KEY("organization_id","id")
);
--> statement-breakpoint
CREATE TABLE "mwp"."challenges" (
	"organization_id" text COLLATE "C" NOT NULL,
	"challenge_id" text COLLATE "C" NOT NULL,
	"expires_at_millis" bigint NOT NULL,
	CONSTRAINT "challenges_pkey" PRIMARY KEY("organization_id","challenge_id")
);
--> statement-breakpoint
CREATE TABLE "mwp"."commands" (
	"organization_id" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"actor_type" text COLLATE "C" NOT NULL,
	"actor_id" text COLLATE "C" NOT NULL,
	"action_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"issued_at" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C",
	CONSTRAINT "commands_pkey" PRIMARY KEY("organization_id","signing_hash")
);
--> statement-breakpoint
CREATE TABLE "mwp"."documents" (
	"organization_id" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"document_kind" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"principal_type" text COLLATE "C" NOT NULL,
	"principal_id" text COLLATE "C" NOT NULL,
	"command_hash" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C",
	CONSTRAINT "documents_pkey" PRIMARY KEY("organization_id","signing_hash")
);
--> statement-breakpoint
CREATE TABLE "mwp"."events" (
	"organization_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"aggregate_revision" bigint,
	"actor_type" text COLLATE "C" NOT NULL,
	"actor_id" text COLLATE "C" NOT NULL,
	"occurred_at" text COLLATE "C" NOT NULL,
	"command_hash" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"chain_hash" text COLLATE "C" NOT NULL,
	"admission_record_id" text COLLATE "C" NOT NULL,
	"trusted_accepted_at" text COLLATE "C" NOT NULL,
	"revision" bigint NOT NULL,
	"body" text COLLATE "C",
	CONSTRAINT "events_pkey" PRIMARY KEY("organization_id","stream_id","position"),
	CONSTRAINT "events_position" CHECK (position >= 1)
);
--> statement-breakpoint
CREATE TABLE "mwp"."key_bindings" (
	"organization_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"principal_type" text COLLATE "C" NOT NULL,
	"principal_id" text COLLATE "C" NOT NULL,
	"algorithm" text COLLATE "C" NOT NULL,
	"public_key" text COLLATE "C" NOT NULL,
	"valid_from" text COLLATE "C" NOT NULL,
	CONSTRAINT "key_bindings_pkey" PRIMARY KEY("organization_id","key_id"),
	CONSTRAINT "key_bindings_algorithm" CHECK (algorithm = 'Ed25519')
);
--> statement-breakpoint
CREATE TABLE "mwp"."key_validity" (
	"organization_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"sequence" bigint NOT NULL,
	"recorded_at" text COLLATE "C" NOT NULL,
	"valid_until" text COLLATE "C",
	"revoked_at" text COLLATE "C",
	CONSTRAINT "key_validity_pkey" PRIMARY KEY("organization_id","key_id","sequence"),
	CONSTRAINT "key_validity_says_something" CHECK (valid_until IS NOT NULL OR revoked_at IS NOT NULL)
);
--> statement-breakpoint
CREATE TABLE "mwp"."organizations" (
	"organization_id" text COLLATE "C" NOT NULL,
	"slug" text COLLATE "C" NOT NULL,
	"display_name" text COLLATE "C" NOT NULL,
	"created_at" text COLLATE "C" NOT NULL,
	"authority_type" text COLLATE "C" NOT NULL,
	"authority_id" text COLLATE "C" NOT NULL,
	"identity_type" text COLLATE "C" NOT NULL,
	"identity_id" text COLLATE "C" NOT NULL,
	"registrar_type" text COLLATE "C" NOT NULL,
	"registrar_id" text COLLATE "C" NOT NULL,
	"registry_revision" bigint NOT NULL,
	CONSTRAINT "organizations_pkey" PRIMARY KEY("organization_id"),
	CONSTRAINT "organizations_slug" UNIQUE("slug"),
	CONSTRAINT "organizations_named" CHECK (organization_id <> ''),
	CONSTRAINT "organizations_slug_form" CHECK (slug ~ '^[a-z0-9-]{1,63}$')
);
--> statement-breakpoint
CREATE TABLE "mwp"."policies" (
	"organization_id" text COLLATE "C" NOT NULL,
	"version" bigint NOT NULL,
	"document" text COLLATE "C" NOT NULL,
	CONSTRAINT "policies_pkey" PRIMARY KEY("organization_id","version")
);
--> statement-breakpoint
CREATE TABLE "mwp"."policy_log" (
	"organization_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"entry_id" text COLLATE "C" NOT NULL,
	"decision" text COLLATE "C" NOT NULL,
	"actor_type" text COLLATE "C" NOT NULL,
	"actor_id" text COLLATE "C" NOT NULL,
	"occurred_at" text COLLATE "C" NOT NULL,
	"details" text COLLATE "C" NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "policy_log_pkey" PRIMARY KEY("organization_id","group_id","position"),
	CONSTRAINT "policy_log_position" CHECK (position >= 1)
);
--> statement-breakpoint
CREATE TABLE "mwp"."principals" (
	"organization_id" text COLLATE "C" NOT NULL,
	"principal_type" text COLLATE "C" NOT NULL,
	"principal_id" text COLLATE "C" NOT NULL,
	"display_name" text COLLATE "C" NOT NULL,
	CONSTRAINT "principals_pkey" PRIMARY KEY("organization_id","principal_type","principal_id"),
	CONSTRAINT "principals_type" CHECK (principal_type IN ('agent', 'human', 'service'))
);
--> statement-breakpoint
CREATE TABLE "mwp"."receipts" (
	"organization_id" text COLLATE "C" NOT NULL,
	"actor_type" text COLLATE "C" NOT NULL,
	"actor_id" text COLLATE "C" NOT NULL,
	"action_id" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"revision" bigint NOT NULL,
	"primary_event_id" text COLLATE "C" NOT NULL,
	"event_ids" text COLLATE "C" NOT NULL,
	"accepted_at" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C" NOT NULL,
	CONSTRAINT "receipts_pkey" PRIMARY KEY("organization_id","actor_type","actor_id","action_id")
);
--> statement-breakpoint
CREATE TABLE "mwp"."sealed_keys" (
	"organization_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"principal_type" text COLLATE "C" NOT NULL,
	"principal_id" text COLLATE "C" NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	CONSTRAINT "sealed_keys_pkey" PRIMARY KEY("organization_id","key_id")
);
--> statement-breakpoint
CREATE TABLE "mwp"."streams" (
	"organization_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"stream_kind" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"revision" bigint NOT NULL,
	"last_event_at" text COLLATE "C" NOT NULL,
	"chain_hash" text COLLATE "C" NOT NULL,
	"log_hash" text COLLATE "C" NOT NULL,
	"policy_position" bigint NOT NULL,
	"root_group_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "streams_pkey" PRIMARY KEY("organization_id","stream_id"),
	CONSTRAINT "streams_kind" CHECK (stream_kind IN ('group', 'organization')),
	CONSTRAINT "streams_counts" CHECK (position >= 0 AND revision >= 1 AND policy_position >= 0)
);
--> statement-breakpoint
CREATE TABLE "mwp"."texts" (
	"organization_id" text COLLATE "C" NOT NULL,
	"commitment" text COLLATE "C" NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"value" text COLLATE "C" NOT NULL,
	CONSTRAINT "texts_pkey" PRIMARY KEY("organization_id","group_id","commitment")
);
--> statement-breakpoint
CREATE TABLE "mwp"."transitions" (
	"organization_id" text COLLATE "C" NOT NULL,
	"stream_id" text COLLATE "C" NOT NULL,
	"revision" bigint NOT NULL,
	"log_hash" text COLLATE "C" NOT NULL,
	CONSTRAINT "transitions_pkey" PRIMARY KEY("organization_id","stream_id","revision")
);
--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD CONSTRAINT "audit_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."challenges" ADD CONSTRAINT "challenges_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."documents" ADD CONSTRAINT "documents_command" FOREIGN KEY ("organization_id","command_hash") REFERENCES "mwp"."commands"("organization_id","signing_hash") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."events" ADD CONSTRAINT "events_stream" FOREIGN KEY ("organization_id","stream_id") REFERENCES "mwp"."streams"("organization_id","stream_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."key_bindings" ADD CONSTRAINT "key_bindings_principal" FOREIGN KEY ("organization_id","principal_type","principal_id") REFERENCES "mwp"."principals"("organization_id","principal_type","principal_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."key_validity" ADD CONSTRAINT "key_validity_binding" FOREIGN KEY ("organization_id","key_id") REFERENCES "mwp"."key_bindings"("organization_id","key_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."policies" ADD CONSTRAINT "policies_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."principals" ADD CONSTRAINT "principals_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."receipts" ADD CONSTRAINT "receipts_command" FOREIGN KEY ("organization_id","signing_hash") REFERENCES "mwp"."commands"("organization_id","signing_hash") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."sealed_keys" ADD CONSTRAINT "sealed_keys_binding" FOREIGN KEY ("organization_id","key_id") REFERENCES "mwp"."key_bindings"("organization_id","key_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."streams" ADD CONSTRAINT "streams_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."transitions" ADD CONSTRAINT "transitions_stream" FOREIGN KEY ("organization_id","stream_id") REFERENCES "mwp"."streams"("organization_id","stream_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "admissions_record_id" ON "mwp"."admissions" USING btree ("organization_id","admission_record_id") WHERE admission_record_id >= '';--> statement-breakpoint
CREATE INDEX "aggregates_by_group" ON "mwp"."aggregates" USING btree ("organization_id","group_id","kind","id") WHERE group_id >= '';--> statement-breakpoint
CREATE INDEX "aggregates_by_group_state" ON "mwp"."aggregates" USING btree ("organization_id","group_id","kind","state","id") WHERE state IS NOT NULL;--> statement-breakpoint
CREATE INDEX "aggregates_by_holder" ON "mwp"."aggregates" USING btree ("organization_id","holder","kind","state","id") WHERE holder IS NOT NULL;--> statement-breakpoint
CREATE INDEX "aggregates_by_parent" ON "mwp"."aggregates" USING btree ("organization_id","parent","kind","id") WHERE parent IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "aggregates_one_mission" ON "mwp"."aggregates" USING btree ("organization_id","group_id") WHERE kind = 'mission';--> statement-breakpoint
CREATE UNIQUE INDEX "aggregates_exclusive" ON "mwp"."aggregates" USING btree ("organization_id","exclusive_slot") WHERE exclusive_slot IS NOT NULL;--> statement-breakpoint
CREATE INDEX "challenges_by_expiry" ON "mwp"."challenges" USING btree ("organization_id","expires_at_millis");--> statement-breakpoint
CREATE UNIQUE INDEX "events_event_id" ON "mwp"."events" USING btree ("organization_id","event_id") WHERE event_id >= '';--> statement-breakpoint
CREATE INDEX "events_by_actor" ON "mwp"."events" USING btree ("organization_id","group_id","kind","actor_id","occurred_at") WHERE group_id <> '';--> statement-breakpoint
CREATE UNIQUE INDEX "key_bindings_public_key" ON "mwp"."key_bindings" USING btree ("organization_id","public_key") WHERE public_key >= '';--> statement-breakpoint
CREATE INDEX "key_bindings_by_principal" ON "mwp"."key_bindings" USING btree ("organization_id","principal_type","principal_id","key_id") WHERE principal_id >= '';--> statement-breakpoint
CREATE UNIQUE INDEX "policy_log_entry_id" ON "mwp"."policy_log" USING btree ("organization_id","entry_id") WHERE entry_id >= '';--> statement-breakpoint
CREATE INDEX "texts_by_event" ON "mwp"."texts" USING btree ("organization_id","event_id") WHERE event_id >= '';