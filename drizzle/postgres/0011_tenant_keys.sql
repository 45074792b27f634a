CREATE TABLE "mwp"."tenant_keys" (
	"organization_id" text COLLATE "C" NOT NULL,
	"version" bigint NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"created_at" text COLLATE "C" NOT NULL,
	CONSTRAINT "tenant_keys_pkey" PRIMARY KEY("organization_id","version"),
	CONSTRAINT "tenant_keys_version" CHECK (version >= 1)
);
--> statement-breakpoint
ALTER TABLE "mwp"."tenant_keys" ADD CONSTRAINT "tenant_keys_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "mwp"."tenant_keys" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."tenant_keys" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.tenant_keys
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT ON mwp.tenant_keys TO mwp_authority;
--> statement-breakpoint
-- Deleting one is not refused to the owner of the tables: it is how all that is wrapped under it is destroyed.
CREATE TRIGGER tenant_keys_immutable BEFORE UPDATE ON mwp.tenant_keys
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
