-- What is accepted is never altered (MWP-FND-013c, MWP-SDV-012a, MWP-ADM-003a). The triggers also hold the owner back;
-- the runtime role has no grant to begin with (0002). SQLSTATE MW002: immutable, MW003: a gap in a sequence.
CREATE FUNCTION mwp.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'MW002';
END $$;
--> statement-breakpoint
-- A seal or an erasure may take the body out, once; nothing else of the row moves.
CREATE FUNCTION mwp.refuse_change_but_body() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.body IS NOT NULL OR to_jsonb(NEW) - 'body' IS DISTINCT FROM to_jsonb(OLD) - 'body' THEN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'MW002';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE FUNCTION mwp.refuse_step_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.organization_id, NEW.stream_id, NEW.stream_kind, NEW.root_group_id)
       IS DISTINCT FROM (OLD.organization_id, OLD.stream_id, OLD.stream_kind, OLD.root_group_id)
     OR NEW.position < OLD.position OR NEW.revision <= OLD.revision OR NEW.policy_position < OLD.policy_position THEN
    RAISE EXCEPTION 'a stream only moves forward' USING ERRCODE = 'MW002';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['principals', 'key_bindings', 'key_validity', 'policies', 'admissions', 'transitions',
                              'receipts', 'policy_log'] LOOP
    EXECUTE format('CREATE TRIGGER %1$s_immutable BEFORE UPDATE OR DELETE ON mwp.%1$s
                      FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change()', name);
    EXECUTE format('CREATE TRIGGER %1$s_kept BEFORE TRUNCATE ON mwp.%1$s
                      FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change()', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['events', 'commands', 'documents'] LOOP
    EXECUTE format('CREATE TRIGGER %1$s_immutable BEFORE UPDATE ON mwp.%1$s
                      FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change_but_body()', name);
    EXECUTE format('CREATE TRIGGER %1$s_undeletable BEFORE DELETE ON mwp.%1$s
                      FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change()', name);
    EXECUTE format('CREATE TRIGGER %1$s_kept BEFORE TRUNCATE ON mwp.%1$s
                      FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change()', name);
  END LOOP;
END $$;
--> statement-breakpoint
CREATE TRIGGER streams_forward BEFORE UPDATE ON mwp.streams FOR EACH ROW EXECUTE FUNCTION mwp.refuse_step_back();
--> statement-breakpoint
CREATE TRIGGER streams_kept BEFORE DELETE ON mwp.streams FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
-- Sequences are gapless from 1 (MWP-EVT-005a): each position is one more than the last. Insert in order. The last one is
-- asked for by order, which only the primary key can answer.
CREATE FUNCTION mwp.refuse_gap_in_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  SELECT e.position INTO last FROM mwp.events e
    WHERE e.organization_id = NEW.organization_id AND e.stream_id = NEW.stream_id ORDER BY e.position DESC LIMIT 1;
  IF NEW.position <> coalesce(last, 0) + 1 THEN
    RAISE EXCEPTION 'position % does not follow %', NEW.position, coalesce(last, 0) USING ERRCODE = 'MW003';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER events_gapless BEFORE INSERT ON mwp.events FOR EACH ROW EXECUTE FUNCTION mwp.refuse_gap_in_events();
--> statement-breakpoint
CREATE FUNCTION mwp.refuse_gap_in_policy_log() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  SELECT p.position INTO last FROM mwp.policy_log p
    WHERE p.organization_id = NEW.organization_id AND p.group_id = NEW.group_id ORDER BY p.position DESC LIMIT 1;
  IF NEW.position <> coalesce(last, 0) + 1 THEN
    RAISE EXCEPTION 'policy entry % does not follow %', NEW.position, coalesce(last, 0) USING ERRCODE = 'MW003';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER policy_log_gapless BEFORE INSERT ON mwp.policy_log
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_gap_in_policy_log();
--> statement-breakpoint
-- Heads and aggregates are updated with almost every transition: room for the new row on the old page.
ALTER TABLE mwp.streams SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE mwp.aggregates SET (fillfactor = 80);
