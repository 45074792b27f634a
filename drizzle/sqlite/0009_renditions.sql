CREATE TABLE `renditions` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`position` integer NOT NULL,
	`event_id` text NOT NULL,
	`cause` text NOT NULL,
	`signing_hash` text NOT NULL,
	`key_id` text NOT NULL,
	`signed_at` text NOT NULL,
	`body` text NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `position`, `cause`),
	FOREIGN KEY (`organization_id`,`group_id`,`position`,`cause`) REFERENCES `withheld`(`organization_id`,`group_id`,`position`,`cause`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `withheld` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`position` integer NOT NULL,
	`event_id` text NOT NULL,
	`cause` text NOT NULL,
	`reason_code` text NOT NULL,
	`ordered_by` text NOT NULL,
	`recorded_at` text NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `position`, `cause`),
	FOREIGN KEY (`organization_id`,`group_id`,`position`) REFERENCES `events`(`organization_id`,`stream_id`,`position`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "withheld_cause" CHECK(cause IN ('redacted', 'erased'))
);
--> statement-breakpoint
CREATE INDEX `withheld_by_event` ON `withheld` (`organization_id`,`event_id`);
--> statement-breakpoint
CREATE TRIGGER withheld_unchanged BEFORE UPDATE ON withheld BEGIN SELECT RAISE(ABORT, 'rows of withheld are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER withheld_kept BEFORE DELETE ON withheld BEGIN SELECT RAISE(ABORT, 'rows of withheld are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER renditions_unchanged BEFORE UPDATE ON renditions BEGIN SELECT RAISE(ABORT, 'rows of renditions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER renditions_kept BEFORE DELETE ON renditions BEGIN SELECT RAISE(ABORT, 'rows of renditions are never changed'); END;
