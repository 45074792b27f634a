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
