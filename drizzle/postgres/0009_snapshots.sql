CREATE TABLE "mwp"."group_snapshots" (
	"organization_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"snapshot_id" text COLLATE "C" NOT NULL,
	"through_sequence" bigint NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"artifact_hash" text COLLATE "C" NOT NULL,
	"state_hash" text COLLATE "C" NOT NULL,
	"packs" text COLLATE "C" NOT NULL,
	"created_at" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C" NOT NULL,
	CONSTRAINT "group_snapshots_pkey" PRIMARY KEY("organization_id","group_id","position"),
	CONSTRAINT "group_snapshots_counts" CHECK (position >= 1 AND through_sequence >= 1)
);
--> statement-breakpoint
ALTER TABLE "mwp"."group_snapshots" ADD CONSTRAINT "group_snapshots_stream" FOREIGN KEY ("organization_id","group_id") REFERENCES "mwp"."streams"("organization_id","stream_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "group_snapshots_id" ON "mwp"."group_snapshots" USING btree ("organization_id","snapshot_id") WHERE snapshot_id >= '';
--> statement-breakpoint
ALTER TABLE "mwp"."group_snapshots" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."group_snapshots" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.group_snapshots
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT ON mwp.group_snapshots TO mwp_authority;
--> statement-breakpoint
CREATE TRIGGER group_snapshots_immutable BEFORE UPDATE OR DELETE ON mwp.group_snapshots
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER group_snapshots_kept BEFORE TRUNCATE ON mwp.group_snapshots
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
-- Without gaps, and each of a later sequence. A position that is taken is left to the primary key, so that who comes second
-- can tell.
CREATE FUNCTION mwp.refuse_gap_in_snapshots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last record;
BEGIN
  SELECT s.position, s.through_sequence INTO last FROM mwp.group_snapshots s
    WHERE s.organization_id = NEW.organization_id AND s.group_id = NEW.group_id ORDER BY s.position DESC LIMIT 1;
  IF NEW.position > coalesce(last.position, 0)
     AND (NEW.position <> coalesce(last.position, 0) + 1 OR NEW.through_sequence <= coalesce(last.through_sequence, 0)) THEN
    RAISE EXCEPTION 'snapshot % does not follow %', NEW.position, coalesce(last.position, 0) USING ERRCODE = 'MW003';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_gap_in_snapshots FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER group_snapshots_gapless BEFORE INSERT ON mwp.group_snapshots
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_gap_in_snapshots();
