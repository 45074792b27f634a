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

--> statement-breakpoint
CREATE TABLE "mwp"."sealed_audits" (
	"organization_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"records" bigint NOT NULL,
	"first_id" bigint NOT NULL,
	"last_id" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"format" bigint,
	"key_version" bigint,
	"wrapped_key" text COLLATE "C",
	"blob_hash" text COLLATE "C",
	"last_recorded_at" text COLLATE "C",
	"sealed_at" text COLLATE "C",
	"purged_at" text COLLATE "C",
	CONSTRAINT "sealed_audits_pkey" PRIMARY KEY("organization_id","group_id"),
	CONSTRAINT "sealed_audits_range" CHECK (records >= 1 AND first_id >= 1 AND last_id >= first_id),
	CONSTRAINT "sealed_audits_state" CHECK (state IN ('due', 'sealed', 'purged')),
	CONSTRAINT "sealed_audits_whole" CHECK ((state = 'sealed') = (wrapped_key IS NOT NULL) AND (state = 'sealed') = (blob_hash IS NOT NULL)
        AND (state <> 'sealed' OR (format IS NOT NULL AND key_version IS NOT NULL AND last_recorded_at IS NOT NULL
             AND sealed_at IS NOT NULL)) AND (state = 'purged') = (purged_at IS NOT NULL))
);
--> statement-breakpoint
ALTER TABLE "mwp"."sealed_audits" ADD CONSTRAINT "sealed_audits_stream" FOREIGN KEY ("organization_id","group_id") REFERENCES "mwp"."streams"("organization_id","stream_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sealed_audits_due" ON "mwp"."sealed_audits" USING btree ("organization_id","group_id") WHERE state = 'due';--> statement-breakpoint
CREATE INDEX "sealed_audits_by_age" ON "mwp"."sealed_audits" USING btree ("organization_id","last_recorded_at") WHERE state = 'sealed';--> statement-breakpoint
CREATE INDEX "sealed_audits_by_id" ON "mwp"."sealed_audits" USING btree ("organization_id","last_id");
--> statement-breakpoint
ALTER TABLE "mwp"."sealed_audits" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."sealed_audits" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.sealed_audits
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE (records, first_id, last_id, state, format, key_version, wrapped_key, blob_hash,
  last_recorded_at, sealed_at, purged_at) ON mwp.sealed_audits TO mwp_authority;
--> statement-breakpoint
-- From due to sealed to purged, or from due to purged; what was sealed only loses its key and its address.
CREATE FUNCTION mwp.refuse_sealed_audit_back() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  moving text[] := ARRAY['state', 'records', 'first_id', 'last_id', 'format', 'key_version', 'wrapped_key', 'blob_hash',
                         'last_recorded_at', 'sealed_at'];
BEGIN
  IF OLD.state = 'sealed' THEN
    moving := ARRAY['state', 'wrapped_key', 'blob_hash', 'purged_at'];
  ELSIF NEW.state = 'purged' THEN
    moving := ARRAY['state', 'purged_at'];
  END IF;
  IF (OLD.state, NEW.state) NOT IN (('due', 'sealed'), ('due', 'purged'), ('sealed', 'purged'))
     OR to_jsonb(NEW) - moving IS DISTINCT FROM to_jsonb(OLD) - moving THEN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'MW002';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_sealed_audit_back FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER sealed_audits_forward BEFORE UPDATE ON mwp.sealed_audits
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_sealed_audit_back();
--> statement-breakpoint
CREATE TRIGGER sealed_audits_undeletable BEFORE DELETE ON mwp.sealed_audits
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER sealed_audits_kept BEFORE TRUNCATE ON mwp.sealed_audits
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
