CREATE TABLE `blob_pieces` (
	`organization_id` text NOT NULL,
	`blob_id` text NOT NULL,
	`byte_offset` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`organization_id`, `blob_id`, `byte_offset`),
	FOREIGN KEY (`organization_id`,`blob_id`) REFERENCES `blobs`(`organization_id`,`blob_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "blob_pieces_offset" CHECK(byte_offset >= 0),
	CONSTRAINT "blob_pieces_bytes" CHECK(length(bytes) > 0)
);
--> statement-breakpoint
CREATE TABLE `blobs` (
	`organization_id` text NOT NULL,
	`blob_id` text NOT NULL,
	`space` text NOT NULL,
	`hash` text,
	`size` integer NOT NULL,
	`kept_until_millis` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `blob_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "blobs_size" CHECK(size >= 0),
	CONSTRAINT "blobs_space" CHECK(space <> '')
);
--> statement-breakpoint
CREATE UNIQUE INDEX `blobs_address` ON `blobs` (`organization_id`,`space`,`hash`) WHERE hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `blobs_unnamed` ON `blobs` (`organization_id`,`space`,`kept_until_millis`) WHERE hash IS NULL;