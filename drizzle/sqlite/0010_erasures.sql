CREATE TABLE `erasures` (
	`organization_id` text NOT NULL,
	`ordered_by` text NOT NULL,
	`group_id` text NOT NULL,
	`first_sequence` integer NOT NULL,
	`last_sequence` integer NOT NULL,
	`state` text NOT NULL,
	`blobs` text NOT NULL,
	`recorded_at` text NOT NULL,
	`taken_at` text,
	`removed_at` text,
	`scrubbed_at` text,
	PRIMARY KEY(`organization_id`, `ordered_by`),
	FOREIGN KEY (`organization_id`,`group_id`) REFERENCES `streams`(`organization_id`,`stream_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "erasures_range" CHECK(first_sequence >= 1 AND first_sequence <= last_sequence),
	CONSTRAINT "erasures_state" CHECK(state IN ('due', 'taken', 'removed', 'scrubbed')),
	CONSTRAINT "erasures_times" CHECK((taken_at IS NULL) = (state = 'due') AND (removed_at IS NULL) = (state IN ('due', 'taken'))
        AND (scrubbed_at IS NULL) = (state <> 'scrubbed') AND (state = 'taken' OR blobs = '[]'))
);
--> statement-breakpoint
CREATE INDEX `erasures_by_state` ON `erasures` (`organization_id`,`state`,`ordered_by`);
--> statement-breakpoint
CREATE TRIGGER erasures_forward BEFORE UPDATE ON erasures WHEN NOT ((OLD.state = 'due' AND NEW.state = 'taken' AND NEW.removed_at IS OLD.removed_at AND NEW.scrubbed_at IS OLD.scrubbed_at) OR (OLD.state = 'taken' AND NEW.state = 'removed' AND NEW.taken_at IS OLD.taken_at AND NEW.scrubbed_at IS OLD.scrubbed_at) OR (OLD.state = 'removed' AND NEW.state = 'scrubbed' AND NEW.taken_at IS OLD.taken_at AND NEW.removed_at IS OLD.removed_at)) BEGIN SELECT RAISE(ABORT, 'rows of erasures are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER erasures_unchanged BEFORE UPDATE OF organization_id, ordered_by, group_id, first_sequence, last_sequence, recorded_at ON erasures BEGIN SELECT RAISE(ABORT, 'rows of erasures are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER erasures_undeletable BEFORE DELETE ON erasures BEGIN SELECT RAISE(ABORT, 'rows of erasures are never changed'); END;
--> statement-breakpoint
-- A text goes with the erasure of the Event that brought it, and for no other reason.
CREATE TRIGGER texts_kept BEFORE DELETE ON texts WHEN NOT EXISTS (SELECT 1 FROM withheld w WHERE w.organization_id = OLD.organization_id AND w.event_id = OLD.event_id AND w.cause = 'erased') BEGIN SELECT RAISE(ABORT, 'rows of texts are never changed'); END;
