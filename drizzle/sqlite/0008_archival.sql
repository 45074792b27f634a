CREATE TABLE `tenant_keys` (
	`organization_id` text NOT NULL,
	`version` integer NOT NULL,
	`sealed` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `version`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "tenant_keys_version" CHECK(version >= 1)
);
--> statement-breakpoint
CREATE TRIGGER tenant_keys_unchanged BEFORE UPDATE ON tenant_keys BEGIN SELECT RAISE(ABORT, 'rows of tenant_keys are never changed'); END;

--> statement-breakpoint
CREATE TABLE `sealed_audits` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`records` integer NOT NULL,
	`first_id` integer NOT NULL,
	`last_id` integer NOT NULL,
	`state` text NOT NULL,
	`format` integer,
	`key_version` integer,
	`wrapped_key` text,
	`blob_hash` text,
	`last_recorded_at` text,
	`sealed_at` text,
	`purged_at` text,
	PRIMARY KEY(`organization_id`, `group_id`),
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `streams`(`organization_id`,`stream_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "sealed_audits_range" CHECK(records >= 1 AND first_id >= 1 AND last_id >= first_id),
	CONSTRAINT "sealed_audits_state" CHECK(state IN ('due', 'sealed', 'purged')),
	CONSTRAINT "sealed_audits_whole" CHECK((state = 'sealed') = (wrapped_key IS NOT NULL) AND (state = 'sealed') = (blob_hash IS NOT NULL)
        AND (state <> 'sealed' OR (format IS NOT NULL AND key_version IS NOT NULL AND last_recorded_at IS NOT NULL
             AND sealed_at IS NOT NULL)) AND (state = 'purged') = (purged_at IS NOT NULL))
);
--> statement-breakpoint
CREATE INDEX `sealed_audits_due` ON `sealed_audits` (`organization_id`,`group_id`) WHERE state = 'due';--> statement-breakpoint
CREATE INDEX `sealed_audits_by_age` ON `sealed_audits` (`organization_id`,`last_recorded_at`) WHERE state = 'sealed';--> statement-breakpoint
CREATE INDEX `sealed_audits_by_id` ON `sealed_audits` (`organization_id`,`last_id`);
--> statement-breakpoint
-- From due to sealed to purged, or from due to purged; what was sealed only loses its key and its address.
CREATE TRIGGER sealed_audits_forward BEFORE UPDATE ON sealed_audits WHEN NEW.organization_id <> OLD.organization_id OR NEW.group_id <> OLD.group_id OR NOT ((OLD.state = 'due' AND NEW.state IN ('sealed', 'purged')) OR (OLD.state = 'sealed' AND NEW.state = 'purged')) BEGIN SELECT RAISE(ABORT, 'rows of sealed_audits are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER sealed_audits_unchanged BEFORE UPDATE ON sealed_audits WHEN NEW.state = 'purged' AND (NEW.records IS NOT OLD.records OR NEW.first_id IS NOT OLD.first_id OR NEW.last_id IS NOT OLD.last_id OR NEW.format IS NOT OLD.format OR NEW.key_version IS NOT OLD.key_version OR NEW.last_recorded_at IS NOT OLD.last_recorded_at OR NEW.sealed_at IS NOT OLD.sealed_at) BEGIN SELECT RAISE(ABORT, 'rows of sealed_audits are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER sealed_audits_kept BEFORE DELETE ON sealed_audits BEGIN SELECT RAISE(ABORT, 'rows of sealed_audits are never changed'); END;
