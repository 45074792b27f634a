-- One acceptance in two calls: `open_acceptance` takes the locks, then reads; `write_transition` writes all or nothing.
-- The functions are VOLATILE: under READ COMMITTED each statement inside has a snapshot of its own, so what is loaded
-- after a lock shows what the lock waited for. Rows are found and changed one by one, by their key: a join with what JSON
-- brings may be planned, while tables are small, as a scan of the whole tenant, and such a plan is kept. A condition like
-- `group_id >= ''` admits the index that has the same one (see schema.ts).
-- SQLSTATE MW001: compare-and-set, MW004: tenant, MW005: run again.
CREATE FUNCTION mwp.clock_text() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
--> statement-breakpoint
CREATE FUNCTION mwp.take_lock(name text, mode text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF mode = 'exclusive' THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('mwp ' || name, 0));
  ELSE
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('mwp ' || name, 0));
  END IF;
END $$;
--> statement-breakpoint
-- A head that does not exist yet is locked by name, so that two creations of one Group queue up; the second then finds
-- the row and waits for it as well.
CREATE FUNCTION mwp.lock_heads(org text, groups json) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted text;
BEGIN
  FOR wanted IN SELECT DISTINCT value COLLATE "C" FROM json_array_elements_text(groups) ORDER BY 1 LOOP
    PERFORM 1 FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = wanted FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      PERFORM mwp.take_lock('group ' || org || ' ' || wanted, 'exclusive');
      PERFORM 1 FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = wanted FOR NO KEY UPDATE;
    END IF;
  END LOOP;
END $$;
--> statement-breakpoint
CREATE FUNCTION mwp.load_reads(org text, at_time text, ones json, lists json, recents json)
RETURNS TABLE (section text, body text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted record;
  one_state text;
  maximum CONSTANT bigint := 10001;
BEGIN
  FOR wanted IN SELECT * FROM json_to_recordset(ones) AS r(kind text, id text) LOOP
    RETURN QUERY
      SELECT 'aggregate', json_build_array(a.kind, a.id, a.group_id, a.version, a.document)::text
      FROM mwp.aggregates a
      WHERE a.organization_id = org AND a.kind = wanted.kind AND a.id = wanted.id;
  END LOOP;
  FOR wanted IN
    SELECT r.kind, r."groupId" AS group_id, r.holder, r.parent,
           CASE WHEN r.states IS NULL THEN NULL ELSE ARRAY(SELECT DISTINCT json_array_elements_text(r.states)) END AS states
    FROM json_to_recordset(lists) AS r(kind text, "groupId" text, states json, holder text, parent text)
  LOOP
    RETURN QUERY SELECT 'list', NULL::text;
    -- One statement per way in and state, so that each has an index that fits it; what remains is filtered.
    FOREACH one_state IN ARRAY coalesce(wanted.states, ARRAY[NULL]) LOOP
      IF wanted.parent IS NOT NULL THEN
        RETURN QUERY
          SELECT 'aggregate', json_build_array(a.kind, a.id, a.group_id, a.version, a.document)::text
          FROM mwp.aggregates a
          WHERE a.organization_id = org AND a.parent = wanted.parent AND a.kind = wanted.kind
            AND (wanted.group_id IS NULL OR a.group_id = wanted.group_id)
            AND (wanted.holder IS NULL OR a.holder = wanted.holder)
            AND (one_state IS NULL OR a.state = one_state)
          LIMIT maximum;
      ELSIF wanted.holder IS NOT NULL AND one_state IS NOT NULL THEN
        RETURN QUERY
          SELECT 'aggregate', json_build_array(a.kind, a.id, a.group_id, a.version, a.document)::text
          FROM mwp.aggregates a
          WHERE a.organization_id = org AND a.holder = wanted.holder AND a.kind = wanted.kind AND a.state = one_state
            AND (wanted.group_id IS NULL OR a.group_id = wanted.group_id)
          LIMIT maximum;
      ELSIF wanted.holder IS NOT NULL THEN
        RETURN QUERY
          SELECT 'aggregate', json_build_array(a.kind, a.id, a.group_id, a.version, a.document)::text
          FROM mwp.aggregates a
          WHERE a.organization_id = org AND a.holder = wanted.holder AND a.kind = wanted.kind
            AND (wanted.group_id IS NULL OR a.group_id = wanted.group_id)
          LIMIT maximum;
      ELSIF one_state IS NOT NULL THEN
        RETURN QUERY
          SELECT 'aggregate', json_build_array(a.kind, a.id, a.group_id, a.version, a.document)::text
          FROM mwp.aggregates a
          WHERE a.organization_id = org AND a.group_id = wanted.group_id AND a.kind = wanted.kind AND a.state = one_state
          LIMIT maximum;
      ELSE
        RETURN QUERY
          SELECT 'aggregate', json_build_array(a.kind, a.id, a.group_id, a.version, a.document)::text
          FROM mwp.aggregates a
          WHERE a.organization_id = org AND a.group_id = wanted.group_id AND a.group_id >= ''
            AND a.kind = wanted.kind
          LIMIT maximum;
      END IF;
    END LOOP;
  END LOOP;
  FOR wanted IN
    SELECT r."groupId" AS group_id, r."eventKind" AS kind, r."actorType" AS actor_type, r."actorId" AS actor_id,
           to_char((at_time::timestamptz - r.seconds * interval '1 second') AT TIME ZONE 'UTC',
                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
    FROM json_to_recordset(recents)
      AS r("groupId" text, "eventKind" text, "actorType" text, "actorId" text, seconds double precision)
  LOOP
    RETURN QUERY
      SELECT 'recent', json_build_object('count', count(*), 'oldest', min(e.occurred_at))::text
      FROM mwp.events e
      WHERE e.organization_id = org AND e.group_id = wanted.group_id AND e.group_id <> '' AND e.kind = wanted.kind
        AND e.actor_id = wanted.actor_id AND e.occurred_at > wanted.since AND e.actor_type = wanted.actor_type;
  END LOOP;
END $$;
--> statement-breakpoint
-- Design section 4, step 2: (a) Organization, (b) actor, (c) tree root, (d) Group heads sorted; then, in later
-- statements, the clock and everything that is read.
CREATE FUNCTION mwp.open_acceptance(
  org text, org_mode text, actor_type text, actor_id text, actor_mode text, tree_group text, tree_mode text,
  groups json, receipt_type text, receipt_actor text, receipt_action text, hashes json,
  ones json, lists json, recents json, host_time text
) RETURNS TABLE (section text, body text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  root text;
  root_after text;
  at_time text;
  wanted text;
BEGIN
  PERFORM set_config('mwp.organization', org, true);
  PERFORM mwp.take_lock('organization ' || org, org_mode);
  IF actor_mode IS NOT NULL THEN
    PERFORM mwp.take_lock('actor ' || org || ' ' || actor_type || ' ' || actor_id, actor_mode);
  END IF;
  IF tree_mode IS NOT NULL THEN
    -- The root never changes, so it may be looked up before it is locked. An unknown Group counts as its own root.
    SELECT s.root_group_id INTO root FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = tree_group;
    root := coalesce(root, tree_group);
    PERFORM mwp.take_lock('tree ' || org || ' ' || root, tree_mode);
  END IF;
  PERFORM mwp.lock_heads(org, groups);
  IF tree_mode IS NOT NULL THEN
    SELECT s.root_group_id INTO root_after FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = tree_group;
    IF coalesce(root_after, tree_group) <> root THEN
      RAISE EXCEPTION 'the Group was created meanwhile, in another tree' USING ERRCODE = 'MW005';
    END IF;
  END IF;

  at_time := coalesce(host_time, mwp.clock_text());
  RETURN QUERY SELECT 'clock', at_time;
  RETURN QUERY SELECT 'registry', o.registry_revision::text FROM mwp.organizations o WHERE o.organization_id = org;
  RETURN QUERY
    SELECT 'policy', p.document FROM mwp.policies p WHERE p.organization_id = org ORDER BY p.version DESC LIMIT 1;
  RETURN QUERY
    SELECT 'receipt', row_to_json(r)::text FROM mwp.receipts r
    WHERE r.organization_id = org AND r.actor_type = receipt_type AND r.actor_id = receipt_actor
      AND r.action_id = receipt_action;
  FOR wanted IN SELECT value FROM json_array_elements_text(hashes) LOOP
    RETURN QUERY
      SELECT 'admission', row_to_json(a)::text FROM mwp.admissions a
      WHERE a.organization_id = org AND a.signing_hash = wanted;
  END LOOP;
  FOR wanted IN SELECT value FROM json_array_elements_text(groups) LOOP
    RETURN QUERY
      SELECT 'head', row_to_json(s)::text FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = wanted;
  END LOOP;
  RETURN QUERY SELECT l.section, l.body FROM mwp.load_reads(org, at_time, ones, lists, recents) l;
END $$;
--> statement-breakpoint
CREATE FUNCTION mwp.lock_groups(org text, groups json) RETURNS SETOF mwp.streams LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted text;
BEGIN
  PERFORM mwp.lock_heads(org, groups);
  FOR wanted IN SELECT value FROM json_array_elements_text(groups) LOOP
    RETURN QUERY SELECT * FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = wanted;
  END LOOP;
END $$;
--> statement-breakpoint
CREATE FUNCTION mwp.write_transition(
  org text, heads json, events json, changed json, created json, texts json, command json, documents json,
  admissions json, receipt json, policy_log json
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  head record;
  change record;
  last bigint;
BEGIN
  -- Outside the transaction that `open_acceptance` began there is no tenant, and nothing may be written.
  IF current_setting('mwp.organization', true) IS DISTINCT FROM org THEN
    RAISE EXCEPTION 'not inside an acceptance' USING ERRCODE = 'MW004';
  END IF;

  FOR head IN
    SELECT * FROM json_to_recordset(heads) AS h(stream_id text, stream_kind text, expected bigint, position bigint,
                                                revision bigint, last_event_at text, chain_hash text, log_hash text,
                                                policy_position bigint, root_group_id text)
  LOOP
    IF head.expected = 0 AND head.revision = 1 THEN
      INSERT INTO mwp.streams (organization_id, stream_id, stream_kind, position, revision, last_event_at, chain_hash,
                               log_hash, policy_position, root_group_id)
        VALUES (org, head.stream_id, head.stream_kind, head.position, head.revision, head.last_event_at,
                head.chain_hash, head.log_hash, head.policy_position, head.root_group_id);
    ELSE
      UPDATE mwp.streams s
        SET position = head.position, revision = head.revision, last_event_at = head.last_event_at,
            chain_hash = head.chain_hash, log_hash = head.log_hash, policy_position = head.policy_position
        WHERE s.organization_id = org AND s.stream_id = head.stream_id AND s.position = head.expected
          AND s.root_group_id = head.root_group_id;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'a stream is not where it was' USING ERRCODE = 'MW001';
      END IF;
    END IF;
    INSERT INTO mwp.transitions (organization_id, stream_id, revision, log_hash)
      VALUES (org, head.stream_id, head.revision, head.log_hash);
  END LOOP;

  INSERT INTO mwp.events
    SELECT org, e.stream_id, e.position, e.event_id, e.kind, e.group_id, e.aggregate_revision, e.actor_type, e.actor_id,
           e.occurred_at, e.command_hash, e.signing_hash, e.key_id, e.chain_hash, e.admission_record_id,
           e.trusted_accepted_at, e.revision, e.body
    FROM json_populate_recordset(NULL::mwp.events, events) e
    ORDER BY e.stream_id, e.position;
  -- A head names its last Event.
  FOR head IN SELECT * FROM json_to_recordset(heads) AS h(stream_id text, position bigint) LOOP
    SELECT e.position INTO last FROM mwp.events e
      WHERE e.organization_id = org AND e.stream_id = head.stream_id ORDER BY e.position DESC LIMIT 1;
    IF last IS DISTINCT FROM head.position THEN
      RAISE EXCEPTION 'a head does not name its last Event' USING ERRCODE = 'MW003';
    END IF;
  END LOOP;

  -- Changes before creations: the lease that ends makes room for the one that begins. Documents come as text within the
  -- JSON, because taking a row apart would also decode them, and no text holds a NUL.
  FOR change IN
    SELECT * FROM json_to_recordset(changed) AS c(kind text, id text, group_id text, version bigint, document text,
                                                  hash text, state text, holder text, parent text)
  LOOP
    UPDATE mwp.aggregates a
      SET version = change.version + 1, document = change.document::json, hash = change.hash, state = change.state,
          holder = change.holder, parent = change.parent
      WHERE a.organization_id = org AND a.kind = change.kind AND a.id = change.id AND a.version = change.version
        AND a.group_id = change.group_id;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'an aggregate is not what it was' USING ERRCODE = 'MW001';
    END IF;
  END LOOP;
  IF created IS NOT NULL THEN
    INSERT INTO mwp.aggregates (organization_id, kind, id, group_id, version, document, hash, state, holder, parent)
      SELECT org, c.kind, c.id, c.group_id, 1, c.document::json, c.hash, c.state, c.holder, c.parent
      FROM json_to_recordset(created) AS c(kind text, id text, group_id text, version bigint, document text,
                                         hash text, state text, holder text, parent text);
  END IF;

  -- A commitment is a hash of its text: who comes second brings the same.
  IF texts IS NOT NULL THEN
    INSERT INTO mwp.texts
      SELECT org, t.commitment, t.event_id, t.group_id, t.value FROM json_populate_recordset(NULL::mwp.texts, texts) t
      ON CONFLICT (organization_id, group_id, commitment) DO NOTHING;
  END IF;
  INSERT INTO mwp.commands
    SELECT org, c.signing_hash, c.actor_type, c.actor_id, c.action_id, c.kind, c.group_id, c.key_id, c.issued_at, c.body
    FROM json_populate_record(NULL::mwp.commands, command) c;
  -- The document that was accepted first stays, with the signature it came with.
  IF documents IS NOT NULL THEN
    INSERT INTO mwp.documents
      SELECT org, d.signing_hash, d.document_kind, d.group_id, d.key_id, d.principal_type, d.principal_id,
             d.command_hash, d.body
      FROM json_populate_recordset(NULL::mwp.documents, documents) d
      ON CONFLICT (organization_id, signing_hash) DO NOTHING;
  END IF;
  IF admissions IS NOT NULL THEN
    INSERT INTO mwp.admissions
      SELECT org, a.signing_hash, a.admission_record_id, a.document_kind, a.key_id, a.principal_type, a.principal_id,
             a.trusted_accepted_at, a.accepted_by_type, a.accepted_by_id, a.stream_id, a.revision, a.record
      FROM json_populate_recordset(NULL::mwp.admissions, admissions) a;
  END IF;
  INSERT INTO mwp.receipts
    SELECT org, r.actor_type, r.actor_id, r.action_id, r.signing_hash, r.key_id, r.stream_id, r.revision,
           r.primary_event_id, r.event_ids, r.accepted_at, r.body
    FROM json_populate_record(NULL::mwp.receipts, receipt) r;
  IF policy_log IS NOT NULL THEN
    INSERT INTO mwp.policy_log
      SELECT org, p.group_id, p.position, p.entry_id, p.decision, p.actor_type, p.actor_id, p.occurred_at, p.details,
             p.event_id, p.revision
      FROM json_populate_recordset(NULL::mwp.policy_log, policy_log) p
      ORDER BY p.group_id, p.position;
  END IF;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA mwp FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION mwp.clock_text, mwp.take_lock, mwp.lock_heads, mwp.load_reads, mwp.open_acceptance,
  mwp.lock_groups, mwp.write_transition TO mwp_authority;
