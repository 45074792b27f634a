CREATE TABLE `uploads` (
	`organization_id` text NOT NULL,
	`hash` text NOT NULL,
	`principal_type` text NOT NULL,
	`principal_id` text NOT NULL,
	`size` integer NOT NULL,
	`recorded_at_millis` integer NOT NULL,
	`state` text NOT NULL,
	PRIMARY KEY(`organization_id`, `hash`, `principal_type`, `principal_id`),
	FOREIGN KEY (`organization_id`,`principal_type`,`principal_id`) REFERENCES `principals`(`organization_id`,`principal_type`,`principal_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "uploads_state" CHECK(state IN ('reserved', 'complete', 'published')),
	CONSTRAINT "uploads_size" CHECK(size >= 0)
);
--> statement-breakpoint
CREATE INDEX `uploads_unpublished` ON `uploads` (`organization_id`,`principal_type`,`principal_id`,`recorded_at_millis`) WHERE state <> 'published';--> statement-breakpoint
CREATE INDEX `uploads_by_age` ON `uploads` (`organization_id`,`recorded_at_millis`) WHERE state <> 'published';
