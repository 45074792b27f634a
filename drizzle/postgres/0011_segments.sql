CREATE TABLE "mwp"."segments" (
	"organization_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"first_sequence" bigint NOT NULL,
	"last_sequence" bigint NOT NULL,
	"first_revision" bigint NOT NULL,
	"last_revision" bigint NOT NULL,
	"first_event_id" text COLLATE "C" NOT NULL,
	"last_event_id" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"size" bigint NOT NULL,
	CONSTRAINT "segments_pkey" PRIMARY KEY("organization_id","group_id","position"),
	CONSTRAINT "segments_ranges" CHECK (position >= 1 AND first_sequence <= last_sequence AND first_revision <= last_revision AND size >= 1)
);
--> statement-breakpoint
ALTER TABLE "mwp"."segments" ADD CONSTRAINT "segments_stream" FOREIGN KEY ("organization_id","group_id") REFERENCES "mwp"."streams"("organization_id","stream_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "segments_by_sequence" ON "mwp"."segments" USING btree ("organization_id","group_id","last_sequence") WHERE group_id >= '';--> statement-breakpoint
CREATE UNIQUE INDEX "segments_by_revision" ON "mwp"."segments" USING btree ("organization_id","group_id","last_revision") WHERE group_id >= '';
--> statement-breakpoint
ALTER TABLE "mwp"."segments" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."segments" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.segments
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
-- An erasure seals a segment anew without what it erased: other bytes of the same range.
GRANT SELECT, INSERT, UPDATE (hash, size) ON mwp.segments TO mwp_authority;
--> statement-breakpoint
-- A seal takes the bodies out of the rows (0001: they can only go).
GRANT UPDATE (body) ON mwp.events, mwp.commands, mwp.documents TO mwp_authority;
--> statement-breakpoint
CREATE FUNCTION mwp.refuse_change_but_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'hash' - 'size' IS DISTINCT FROM to_jsonb(OLD) - 'hash' - 'size' THEN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'MW002';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_change_but_bytes FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER segments_immutable BEFORE UPDATE ON mwp.segments
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change_but_bytes();
--> statement-breakpoint
CREATE TRIGGER segments_undeletable BEFORE DELETE ON mwp.segments FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER segments_kept BEFORE TRUNCATE ON mwp.segments
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
-- Without gaps from the first Event on, and never past what a snapshot covers. A position that is taken is left to the
-- primary key, so that who comes second can tell.
CREATE FUNCTION mwp.refuse_gap_in_segments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last record;
BEGIN
  SELECT s.position, s.last_sequence, s.last_revision INTO last FROM mwp.segments s
    WHERE s.organization_id = NEW.organization_id AND s.group_id = NEW.group_id ORDER BY s.position DESC LIMIT 1;
  IF NEW.position <= coalesce(last.position, 0) THEN
    RETURN NEW;
  END IF;
  IF NEW.position <> coalesce(last.position, 0) + 1 OR NEW.first_sequence <> coalesce(last.last_sequence, 0) + 1
     OR NEW.first_revision <> coalesce(last.last_revision, 0) + 1 THEN
    RAISE EXCEPTION 'segment % does not follow %', NEW.position, coalesce(last.position, 0) USING ERRCODE = 'MW003';
  END IF;
  IF NOT EXISTS (SELECT FROM mwp.group_snapshots g WHERE g.organization_id = NEW.organization_id
                   AND g.group_id = NEW.group_id AND g.through_sequence >= NEW.last_sequence) THEN
    RAISE EXCEPTION 'no snapshot covers segment %', NEW.position USING ERRCODE = 'MW003';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_gap_in_segments FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER segments_gapless BEFORE INSERT ON mwp.segments
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_gap_in_segments();
