CREATE TABLE "mwp"."renditions" (
	"organization_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"cause" text COLLATE "C" NOT NULL,
	"signing_hash" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"signed_at" text COLLATE "C" NOT NULL,
	"body" text COLLATE "C" NOT NULL,
	CONSTRAINT "renditions_pkey" PRIMARY KEY("organization_id","group_id","position","cause")
);
--> statement-breakpoint
CREATE TABLE "mwp"."withheld" (
	"organization_id" text COLLATE "C" NOT NULL,
	"group_id" text COLLATE "C" NOT NULL,
	"position" bigint NOT NULL,
	"event_id" text COLLATE "C" NOT NULL,
	"cause" text COLLATE "C" NOT NULL,
	"reason_code" text COLLATE "C" NOT NULL,
	"ordered_by" text COLLATE "C" NOT NULL,
	"recorded_at" text COLLATE "C" NOT NULL,
	CONSTRAINT "withheld_pkey" PRIMARY KEY("organization_id","group_id","position","cause"),
	CONSTRAINT "withheld_cause" CHECK (cause IN ('redacted', 'erased'))
);
--> statement-breakpoint
ALTER TABLE "mwp"."renditions" ADD CONSTRAINT "renditions_mark" FOREIGN KEY ("organization_id","group_id","position","cause") REFERENCES "mwp"."withheld"("organization_id","group_id","position","cause") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mwp"."withheld" ADD CONSTRAINT "withheld_event" FOREIGN KEY ("organization_id","group_id","position") REFERENCES "mwp"."events"("organization_id","stream_id","position") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "withheld_by_event" ON "mwp"."withheld" USING btree ("organization_id","event_id") WHERE event_id >= '';
--> statement-breakpoint
ALTER TABLE "mwp"."withheld" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."withheld" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.withheld
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT ON mwp.withheld TO mwp_authority;
--> statement-breakpoint
CREATE TRIGGER withheld_immutable BEFORE UPDATE OR DELETE ON mwp.withheld
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER withheld_kept BEFORE TRUNCATE ON mwp.withheld
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
ALTER TABLE "mwp"."renditions" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."renditions" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.renditions
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT ON mwp.renditions TO mwp_authority;
--> statement-breakpoint
CREATE TRIGGER renditions_immutable BEFORE UPDATE OR DELETE ON mwp.renditions
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER renditions_kept BEFORE TRUNCATE ON mwp.renditions
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
