-- Statistics before rows. Every index begins with the organization, so to a planner without statistics any of them is as
-- good as the primary key for finding one row; a connection keeps such a plan, and then reads a whole tenant each time
-- until the first autovacuum. Some rows that look like ours, ANALYZE, and they are gone again; what ANALYZE noted stays
-- until there is something real to note.
INSERT INTO mwp.organizations
  SELECT 'urn:none', 'none', '', '', 'service', '', 'service', '', 'service', '', 0;
--> statement-breakpoint
INSERT INTO mwp.streams
  SELECT 'urn:none', 'urn:group:' || i, 'group', 10, 10, '', '', '', 0, 'urn:group:' || i / 2
  FROM generate_series(1, 100) AS i;
--> statement-breakpoint
INSERT INTO mwp.events
  SELECT 'urn:none', 'urn:group:' || i % 100, 1 + i / 100, 'urn:event:' || i, 'kind ' || i % 10, 'urn:group:' || i % 100, 1,
         'agent', 'urn:agent:' || i % 50, i::text, i::text, i::text, 'urn:key', i::text, 'urn:record:' || i, i::text, 1, '{}'
  FROM generate_series(100, 1099) AS i WHERE i % 100 > 0;
--> statement-breakpoint
INSERT INTO mwp.aggregates
  SELECT 'urn:none', 'kind ' || i % 5, 'urn:id:' || i, 'urn:group:' || i % 7, 1, '{}', i::text, 'state ' || i % 4,
         'urn:agent:' || i % 11, 'urn:parent:' || i % 13
  FROM generate_series(1, 1000) AS i;
--> statement-breakpoint
INSERT INTO mwp.admissions
  SELECT 'urn:none', i::text, 'urn:record:' || i, 'kind', 'urn:key', 'agent', 'urn:agent:' || i % 50, '', 'service', '',
         'urn:group:' || i % 100, 1, '{}'
  FROM generate_series(1, 1000) AS i;
--> statement-breakpoint
INSERT INTO mwp.texts
  SELECT 'urn:none', i::text, 'urn:event:' || i, 'urn:group:' || i % 100, '""' FROM generate_series(1, 1000) AS i;
--> statement-breakpoint
INSERT INTO mwp.policy_log
  SELECT 'urn:none', 'urn:group:' || i % 100, 1 + i / 100, 'urn:entry:' || i, '', 'agent', '', '', '{}', '', 1
  FROM generate_series(1, 1000) AS i;
--> statement-breakpoint
ANALYZE mwp.organizations, mwp.streams, mwp.events, mwp.aggregates, mwp.admissions, mwp.texts, mwp.policy_log;
--> statement-breakpoint
DELETE FROM mwp.policy_log;
--> statement-breakpoint
DELETE FROM mwp.texts;
--> statement-breakpoint
DELETE FROM mwp.admissions;
--> statement-breakpoint
DELETE FROM mwp.aggregates;
--> statement-breakpoint
DELETE FROM mwp.events;
--> statement-breakpoint
DELETE FROM mwp.streams;
--> statement-breakpoint
DELETE FROM mwp.organizations;
