ALTER TABLE `audit` ADD `key_id` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `received_hash` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `document_kind` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `document_path` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `document_hash` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `document_key_id` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `caller_type` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `caller_id` text;--> statement-breakpoint
CREATE INDEX `audit_by_group` ON `audit` (`organization_id`,`group_id`,`id`) WHERE group_id IS NOT NULL;