DROP INDEX "mwp"."aggregates_one_execution_lease";--> statement-breakpoint
DROP INDEX "mwp"."aggregates_one_coordinator_lease";--> statement-breakpoint
ALTER TABLE "mwp"."aggregates" ADD COLUMN "exclusive_slot" text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN kind = 'lease' AND state = 'active' THEN CASE document ->> 'leaseType'
        WHEN 'execution' THEN 'execution ' || parent WHEN 'coordinator' THEN 'coordinator ' || (document ->> 'missionId')
        END END) STORED;--> statement-breakpoint
CREATE UNIQUE INDEX "aggregates_exclusive" ON "mwp"."aggregates" USING btree ("organization_id","exclusive_slot") WHERE exclusive_slot IS NOT NULL;