CREATE TABLE "mwp"."uploads" (
	"organization_id" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"principal_type" text COLLATE "C" NOT NULL,
	"principal_id" text COLLATE "C" NOT NULL,
	"size" bigint NOT NULL,
	"recorded_at_millis" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	CONSTRAINT "uploads_pkey" PRIMARY KEY("organization_id","hash","principal_type","principal_id"),
	CONSTRAINT "uploads_state" CHECK (state IN ('reserved', 'complete', 'published')),
	CONSTRAINT "uploads_size" CHECK (size >= 0)
);
--> statement-breakpoint
ALTER TABLE "mwp"."uploads" ADD CONSTRAINT "uploads_principal" FOREIGN KEY ("organization_id","principal_type","principal_id") REFERENCES "mwp"."principals"("organization_id","principal_type","principal_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "uploads_unpublished" ON "mwp"."uploads" USING btree ("organization_id","principal_type","principal_id","recorded_at_millis") WHERE state <> 'published';--> statement-breakpoint
CREATE INDEX "uploads_by_age" ON "mwp"."uploads" USING btree ("organization_id","recorded_at_millis") WHERE state <> 'published';
--> statement-breakpoint
ALTER TABLE "mwp"."uploads" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."uploads" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.uploads
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE, UPDATE (size, recorded_at_millis, state) ON mwp.uploads TO mwp_authority;
