CREATE TABLE `segments` (
	`organization_id` text NOT NULL,
	`group_id` text NOT NULL,
	`position` integer NOT NULL,
	`first_sequence` integer NOT NULL,
	`last_sequence` integer NOT NULL,
	`first_revision` integer NOT NULL,
	`last_revision` integer NOT NULL,
	`first_event_id` text NOT NULL,
	`last_event_id` text NOT NULL,
	`hash` text NOT NULL,
	`size` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `group_id`, `position`),
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `streams`(`organization_id`,`stream_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "segments_ranges" CHECK(position >= 1 AND first_sequence <= last_sequence AND first_revision <= last_revision AND size >= 1)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `segments_by_sequence` ON `segments` (`organization_id`,`group_id`,`last_sequence`);--> statement-breakpoint
CREATE UNIQUE INDEX `segments_by_revision` ON `segments` (`organization_id`,`group_id`,`last_revision`);
--> statement-breakpoint
-- An erasure seals a segment anew without what it erased: other bytes of the same range. Nothing else moves.
CREATE TRIGGER segments_unchanged BEFORE UPDATE OF organization_id, group_id, position, first_sequence, last_sequence, first_revision, last_revision, first_event_id, last_event_id ON segments BEGIN SELECT RAISE(ABORT, 'rows of segments are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER segments_kept BEFORE DELETE ON segments BEGIN SELECT RAISE(ABORT, 'rows of segments are never changed'); END;
--> statement-breakpoint
-- Without gaps from the first Event on. A position that is taken is left to the primary key.
CREATE TRIGGER segments_gapless BEFORE INSERT ON segments WHEN NEW.position > coalesce((SELECT max(position) FROM segments WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) AND (NEW.position <> 1 + coalesce((SELECT max(position) FROM segments WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) OR NEW.first_sequence <> 1 + coalesce((SELECT max(last_sequence) FROM segments WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) OR NEW.first_revision <> 1 + coalesce((SELECT max(last_revision) FROM segments WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0)) BEGIN SELECT RAISE(ABORT, 'this segment does not follow the last'); END;
--> statement-breakpoint
-- And never past what a snapshot covers.
CREATE TRIGGER segments_covered BEFORE INSERT ON segments WHEN NEW.last_sequence > coalesce((SELECT max(through_sequence) FROM group_snapshots WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) BEGIN SELECT RAISE(ABORT, 'no snapshot covers this segment'); END;
