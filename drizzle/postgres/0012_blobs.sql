CREATE TABLE "mwp"."blob_pieces" (
	"organization_id" text COLLATE "C" NOT NULL,
	"blob_id" text COLLATE "C" NOT NULL,
	"byte_offset" bigint NOT NULL,
	"bytes" "bytea" NOT NULL,
	CONSTRAINT "blob_pieces_pkey" PRIMARY KEY("organization_id","blob_id","byte_offset"),
	CONSTRAINT "blob_pieces_offset" CHECK (byte_offset >= 0),
	CONSTRAINT "blob_pieces_bytes" CHECK (octet_length(bytes) > 0)
);
--> statement-breakpoint
CREATE TABLE "mwp"."blobs" (
	"organization_id" text COLLATE "C" NOT NULL,
	"blob_id" text COLLATE "C" NOT NULL,
	"space" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C",
	"size" bigint NOT NULL,
	"kept_until_millis" bigint NOT NULL,
	CONSTRAINT "blobs_pkey" PRIMARY KEY("organization_id","blob_id"),
	CONSTRAINT "blobs_size" CHECK (size >= 0),
	CONSTRAINT "blobs_space" CHECK (space <> '')
);
--> statement-breakpoint
ALTER TABLE "mwp"."blob_pieces" ADD CONSTRAINT "blob_pieces_blob" FOREIGN KEY ("organization_id","blob_id") REFERENCES "mwp"."blobs"("organization_id","blob_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."blobs" ADD CONSTRAINT "blobs_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "blobs_address" ON "mwp"."blobs" USING btree ("organization_id","space","hash") WHERE hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX "blobs_unnamed" ON "mwp"."blobs" USING btree ("organization_id","space","kept_until_millis") WHERE hash IS NULL;
--> statement-breakpoint
ALTER TABLE "mwp"."blobs" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."blobs" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.blobs
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE, UPDATE (hash, size, kept_until_millis) ON mwp.blobs TO mwp_authority;
--> statement-breakpoint
ALTER TABLE "mwp"."blob_pieces" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."blob_pieces" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.blob_pieces
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON mwp.blob_pieces TO mwp_authority;
--> statement-breakpoint
-- Packs are compressed, and so are most contents that are large: PostgreSQL would only try.
ALTER TABLE "mwp"."blob_pieces" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
