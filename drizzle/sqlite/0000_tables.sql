CREATE TABLE `admissions` (
	`organization_id` text NOT NULL,
	`signing_hash` text NOT NULL,
	`admission_record_id` text NOT NULL,
	`document_kind` text NOT NULL,
	`key_id` text NOT NULL,
	`principal_type` text NOT NULL,
	`principal_id` text NOT NULL,
	`trusted_accepted_at` text NOT NULL,
	`accepted_by_type` text NOT NULL,
	`accepted_by_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`revision` integer NOT NULL,
	`record` text NOT NULL,
	PRIMARY KEY(`organization_id`, `signing_hash`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `admissions_record_id` ON `admissions` (`organization_id`,`admission_record_id`);--> statement-breakpoint
CREATE TABLE `aggregates` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`id` text NOT NULL,
	`group_id` text NOT NULL,
	`version` integer NOT NULL,
	`document` text NOT NULL,
	`hash` text NOT NULL,
	`state` text,
	`holder` text,
	`parent` text,
	PRIMARY KEY(`organization_id`, `kind`, `id`),
	CONSTRAINT "aggregates_version" CHECK(version >= 1)
);
--> statement-breakpoint
CREATE INDEX `aggregates_by_group` ON `aggregates` (`organization_id`,`group_id`,`kind`,`id`);--> statement-breakpoint
CREATE INDEX `aggregates_by_group_state` ON `aggregates` (`organization_id`,`group_id`,`kind`,`state`,`id`) WHERE state IS NOT NULL;--> statement-breakpoint
CREATE INDEX `aggregates_by_holder` ON `aggregates` (`organization_id`,`holder`,`kind`,`state`,`id`) WHERE holder IS NOT NULL;--> statement-breakpoint
CREATE INDEX `aggregates_by_parent` ON `aggregates` (`organization_id`,`parent`,`kind`,`id`) WHERE parent IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `aggregates_one_mission` ON `aggregates` (`organization_id`,`group_id`) WHERE kind = 'mission';--> statement-breakpoint
CREATE UNIQUE INDEX `aggregates_one_execution_lease` ON `aggregates` (`organization_id`,`parent`) WHERE kind = 'lease' AND state = 'active' AND (document ->> 'leaseType') = 'execution';--> statement-breakpoint
CREATE UNIQUE INDEX `aggregates_one_coordinator_lease` ON `aggregates` (`organization_id`,(document ->> 'missionId')) WHERE kind = 'lease' AND state = 'active' AND (document ->> 'leaseType') = 'coordinator';--> statement-breakpoint
CREATE TABLE `audit` (
	`organization_id` text NOT NULL,
	`id` integer NOT NULL,
	`recorded_at` text NOT NULL,
	`stage` text NOT NULL,
	`reason` text NOT NULL,
	`code` text NOT NULL,
	`signing_hash` text,
	`actor_type` text,
	`actor_id` text,
	`action_id` text,
	`group_id` text,
	PRIMARY KEY(`organization_id`, `id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `challenges` (
	`organization_id` text NOT NULL,
	`challenge_id` text NOT NULL,
	`expires_at_millis` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `challenge_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `challenges_by_expiry` ON `challenges` (`organization_id`,`expires_at_millis`);--> statement-breakpoint
CREATE TABLE `commands` (
	`organization_id` text NOT NULL,
	`signing_hash` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`action_id` text NOT NULL,
	`kind` text NOT NULL,
	`group_id` text NOT NULL,
	`key_id` text NOT NULL,
	`issued_at` text NOT NULL,
	`body` text,
	PRIMARY KEY(`organization_id`, `signing_hash`)
);
--> statement-breakpoint
CREATE TABLE `documents` (
	`organization_id` text NOT NULL,
	`signing_hash` text NOT NULL,
	`document_kind` text NOT NULL,
	`group_id` text NOT NULL,
	`key_id` text NOT NULL,
	`principal_type` text NOT NULL,
	`principal_id` text NOT NULL,
	`command_hash` text NOT NULL,
	`body` text,
	PRIMARY KEY(`organization_id`, `signing_hash`),
	FOREIGN KEY (`organization_id`,`command_hash`) REFERENCES `commands`(`organization_id`,`signing_hash`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `events` (
	`organization_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`position` integer NOT NULL,
	`event_id` text NOT NULL,
	`kind` text NOT NULL,
	`group_id` text NOT NULL,
	`aggregate_revision` integer,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`occurred_at` text NOT NULL,
	`command_hash` text NOT NULL,
	`signing_hash` text NOT NULL,
	`key_id` text NOT NULL,
	`chain_hash` text NOT NULL,
	`admission_record_id` text NOT NULL,
	`trusted_accepted_at` text NOT NULL,
	`revision` integer NOT NULL,
	`body` text,
	PRIMARY KEY(`organization_id`, `stream_id`, `position`),
	FOREIGN KEY (`organization_id`,`stream_id`) REFERENCES `streams`(`organization_id`,`stream_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "events_position" CHECK(position >= 1)
);
--> statement-breakpoint
CREATE INDEX `events_by_actor` ON `events` (`organization_id`,`group_id`,`kind`,`actor_id`,`occurred_at`) WHERE group_id <> '';--> statement-breakpoint
CREATE UNIQUE INDEX `events_event_id` ON `events` (`organization_id`,`event_id`);--> statement-breakpoint
CREATE TABLE `key_bindings` (
	`organization_id` text NOT NULL,
	`key_id` text NOT NULL,
	`principal_type` text NOT NULL,
	`principal_id` text NOT NULL,
	`algorithm` text NOT NULL,
	`public_key` text NOT NULL,
	`valid_from` text NOT NULL,
	PRIMARY KEY(`organization_id`, `key_id`),
	FOREIGN KEY (`organization_id`,`principal_type`,`principal_id`) REFERENCES `principals`(`organization_id`,`principal_type`,`principal_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "key_bindings_algorithm" CHECK(algorithm = 'Ed25519')
);
--> statement-breakpoint
CREATE INDEX `key_bindings_by_principal` ON `key_bindings` (`organization_id`,`principal_type`,`principal_id`,`key_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `key_bindings_public_key` ON `key_bindings` (`organization_id`,`public_key`);--> statement-breakpoint
CREATE TABLE `key_validity` (
	`organization_id` text NOT NULL,
	`key_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`recorded_at` text NOT NULL,
	`valid_until` text,
	`revoked_at` text,
	PRIMARY KEY(`organization_id`, `key_id`, `sequence`),
	FOREIGN KEY (`organization_id`,`key_id`) REFERENCES `key_bindings`(`organization_id`,`key_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "key_validity_says_something" CHECK(valid_until IS NOT NULL OR revoked_at IS NOT NULL)
);
--> statement-breakpoint
CREATE TABLE `organizations` (
	`organization_id` text PRIMARY KEY NOT NULL,
	`slug` text NOT NULL,
	`display_name` text NOT NULL,
	`created_at` text NOT NULL,
	`authority_type` text NOT NULL,
	`authority_id` text NOT NULL,
	`identity_type` text NOT NULL,
	`identity_id` text NOT NULL,
	`registrar_type` text NOT NULL,
	`registrar_id` text NOT NULL,
	`registry_revision` integer NOT NULL,
	CONSTRAINT "organizations_named" CHECK(organization_id <> ''),
	CONSTRAINT "organizations_slug_form" CHECK(length(slug) BETWEEN 1 AND 63 AND slug NOT GLOB '*[^a-z0-9-]*')
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `policies` (
	`organization_id` text NOT NULL,
	`version` integer NOT NULL,
	`document` text NOT NULL,
	PRIMARY KEY(`organization_id`, `version`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `policy_log` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`position` integer NOT NULL,
	`entry_id` text NOT NULL,
	`decision` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`occurred_at` text NOT NULL,
	`details` text NOT NULL,
	`event_id` text NOT NULL,
	`revision` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `position`),
	CONSTRAINT "policy_log_position" CHECK(position >= 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `policy_log_entry_id` ON `policy_log` (`organization_id`,`entry_id`);--> statement-breakpoint
CREATE TABLE `principals` (
	`organization_id` text NOT NULL,
	`principal_type` text NOT NULL,
	`principal_id` text NOT NULL,
	`display_name` text NOT NULL,
	PRIMARY KEY(`organization_id`, `principal_type`, `principal_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "principals_type" CHECK(principal_type IN ('agent', 'human', 'service'))
);
--> statement-breakpoint
CREATE TABLE `receipts` (
	`organization_id` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`action_id` text NOT NULL,
	`signing_hash` text NOT NULL,
	`key_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`revision` integer NOT NULL,
	`primary_event_id` text NOT NULL,
	`event_ids` text NOT NULL,
	`accepted_at` text NOT NULL,
	`body` text NOT NULL,
	PRIMARY KEY(`organization_id`, `actor_type`, `actor_id`, `action_id`),
	FOREIGN KEY (`organization_id`,`signing_hash`) REFERENCES `commands`(`organization_id`,`signing_hash`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `sealed_keys` (
	`organization_id` text NOT NULL,
	`key_id` text NOT NULL,
	`principal_type` text NOT NULL,
	`principal_id` text NOT NULL,
	`sealed` text NOT NULL,
	PRIMARY KEY(`organization_id`, `key_id`),
	FOREIGN KEY (`organization_id`,`key_id`) REFERENCES `key_bindings`(`organization_id`,`key_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `streams` (
	`organization_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`stream_kind` text NOT NULL,
	`position` integer NOT NULL,
	`revision` integer NOT NULL,
	`last_event_at` text NOT NULL,
	`chain_hash` text NOT NULL,
	`log_hash` text NOT NULL,
	`policy_position` integer NOT NULL,
	`root_group_id` text NOT NULL,
	PRIMARY KEY(`organization_id`, `stream_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "streams_kind" CHECK(stream_kind IN ('group', 'organization')),
	CONSTRAINT "streams_counts" CHECK(position >= 0 AND revision >= 1 AND policy_position >= 0)
);
--> statement-breakpoint
CREATE TABLE `texts` (
	`organization_id` text NOT NULL,
	`commitment` text NOT NULL,
	`event_id` text NOT NULL,
	`group_id` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `commitment`)
);
--> statement-breakpoint
CREATE INDEX `texts_by_event` ON `texts` (`organization_id`,`event_id`);--> statement-breakpoint
CREATE TABLE `transitions` (
	`organization_id` text NOT NULL,
	`stream_id` text NOT NULL,
	`revision` integer NOT NULL,
	`log_hash` text NOT NULL,
	PRIMARY KEY(`organization_id`, `stream_id`, `revision`),
	FOREIGN KEY (`organization_id`,`stream_id`) REFERENCES `streams`(`organization_id`,`stream_id`) ON UPDATE no action ON DELETE no action
);
