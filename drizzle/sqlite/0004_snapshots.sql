CREATE TABLE `group_snapshots` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`position` integer NOT NULL,
	`snapshot_id` text NOT NULL,
	`through_sequence` integer NOT NULL,
	`signing_hash` text NOT NULL,
	`artifact_hash` text NOT NULL,
	`state_hash` text NOT NULL,
	`packs` text NOT NULL,
	`created_at` text NOT NULL,
	`body` text NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `position`),
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `streams`(`organization_id`,`stream_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "group_snapshots_counts" CHECK(position >= 1 AND through_sequence >= 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `group_snapshots_id` ON `group_snapshots` (`organization_id`,`snapshot_id`);
--> statement-breakpoint
CREATE TRIGGER group_snapshots_unchanged BEFORE UPDATE ON group_snapshots BEGIN SELECT RAISE(ABORT, 'rows of group_snapshots are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER group_snapshots_kept BEFORE DELETE ON group_snapshots BEGIN SELECT RAISE(ABORT, 'rows of group_snapshots are never changed'); END;
--> statement-breakpoint
-- Without gaps, and each of a later sequence. A position that is taken is left to the primary key.
CREATE TRIGGER group_snapshots_gapless BEFORE INSERT ON group_snapshots WHEN NEW.position > coalesce((SELECT max(position) FROM group_snapshots WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) AND (NEW.position <> 1 + coalesce((SELECT max(position) FROM group_snapshots WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) OR NEW.through_sequence <= coalesce((SELECT max(through_sequence) FROM group_snapshots WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0)) BEGIN SELECT RAISE(ABORT, 'this snapshot does not follow the last'); END;
