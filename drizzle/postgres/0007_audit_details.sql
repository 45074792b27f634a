ALTER TABLE "mwp"."audit" ADD COLUMN "key_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "received_hash" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "document_kind" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "document_path" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "document_hash" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "document_key_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "caller_type" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "mwp"."audit" ADD COLUMN "caller_id" text COLLATE "C";--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "audit_by_group" ON "mwp"."audit" USING btree ("organization_id","group_id","id") WHERE group_id >= '';