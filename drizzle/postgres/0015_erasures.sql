CREATE TABLE "mwp"."erasures" (
	"organization_id" text COLLATE "C" NOT NULL,
	"ordered_by" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"first_sequence" bigint NOT NULL,
	"last_sequence" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"blobs" text COLLATE "C" NOT NULL,
	"recorded_at" text COLLATE "C" NOT NULL,
	"taken_at" text COLLATE "C",
	"removed_at" text COLLATE "C",
	"scrubbed_at" text COLLATE "C",
	CONSTRAINT "erasures_pkey" PRIMARY KEY("organization_id","ordered_by"),
	CONSTRAINT "erasures_range" CHECK (first_sequence >= 1 AND first_sequence <= last_sequence),
	CONSTRAINT "erasures_state" CHECK (state IN ('due', 'taken', 'removed', 'scrubbed')),
	CONSTRAINT "erasures_times" CHECK ((taken_at IS NULL) = (state = 'due') AND (removed_at IS NULL) = (state IN ('due', 'taken'))
        AND (scrubbed_at IS NULL) = (state <> 'scrubbed') AND (state = 'taken' OR blobs = '[]'))
);
--> statement-breakpoint
ALTER TABLE "mwp"."erasures" ADD CONSTRAINT "erasures_stream" FOREIGN KEY ("organization_id","group_id") REFERENCES "mwp"."streams"("organization_id","stream_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "erasures_by_state" ON "mwp"."erasures" USING btree ("organization_id","state","ordered_by") WHERE state >= '';
--> statement-breakpoint
ALTER TABLE "mwp"."erasures" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."erasures" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.erasures
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
-- That it is scrubbed only the owner of the tables can say, who alone can do it.
GRANT SELECT, INSERT, UPDATE (state, blobs, taken_at, removed_at) ON mwp.erasures TO mwp_authority;
--> statement-breakpoint
CREATE FUNCTION mwp.refuse_erasure_back() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  moving text[];
BEGIN
  moving := CASE NEW.state WHEN 'taken' THEN ARRAY['state', 'blobs', 'taken_at']
                           WHEN 'removed' THEN ARRAY['state', 'blobs', 'removed_at']
                           ELSE ARRAY['state', 'scrubbed_at'] END;
  IF (OLD.state, NEW.state) NOT IN (('due', 'taken'), ('taken', 'removed'), ('removed', 'scrubbed'))
     OR to_jsonb(NEW) - moving IS DISTINCT FROM to_jsonb(OLD) - moving THEN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'MW002';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_erasure_back FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER erasures_forward BEFORE UPDATE ON mwp.erasures
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_erasure_back();
--> statement-breakpoint
CREATE TRIGGER erasures_undeletable BEFORE DELETE ON mwp.erasures
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER erasures_kept BEFORE TRUNCATE ON mwp.erasures
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
-- A text goes with the erasure of the Event that brought it, and for no other reason.
CREATE FUNCTION mwp.refuse_loss_of_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM mwp.withheld w WHERE w.organization_id = OLD.organization_id AND w.event_id = OLD.event_id
                   AND w.event_id >= '' AND w.cause = 'erased') THEN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'MW002';
  END IF;
  RETURN OLD;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_loss_of_text FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER texts_kept BEFORE DELETE ON mwp.texts FOR EACH ROW EXECUTE FUNCTION mwp.refuse_loss_of_text();
--> statement-breakpoint
GRANT DELETE ON mwp.texts TO mwp_authority;
