-- Group commit: several acceptances of one Organization lock and load in one call, and are written in one call. What a
-- process of the release before uses (open_acceptance, write_transition) stays for as long as one may run.
--
-- Design section 4, step 2: (a) Organization, (b) actors, (c) tree roots, (d) Group heads, each class sorted, so that no two
-- wait for each other; then, in later statements, the clock and everything that is read. An actor is its type and id with
-- a blank between them.
CREATE FUNCTION mwp.open_batch(
  org text, org_mode text, actors json, actor_mode text, trees json, tree_mode text, groups json,
  receipts json, hashes json, ones json, lists json, recents json, host_time text
) RETURNS TABLE (section text, body text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted text;
  roots text[];
  roots_after text[];
  at_time text;
BEGIN
  PERFORM set_config('mwp.organization', org, true);
  PERFORM mwp.take_lock('organization ' || org, org_mode);
  FOR wanted IN SELECT DISTINCT value COLLATE "C" FROM json_array_elements_text(actors) ORDER BY 1 LOOP
    PERFORM mwp.take_lock('actor ' || org || ' ' || wanted, actor_mode);
  END LOOP;
  -- The root never changes, so it may be looked up before it is locked. An unknown Group counts as its own root.
  roots := mwp.tree_roots(org, trees);
  FOREACH wanted IN ARRAY roots LOOP
    PERFORM mwp.take_lock('tree ' || org || ' ' || wanted, tree_mode);
  END LOOP;
  PERFORM mwp.lock_heads(org, groups);
  roots_after := mwp.tree_roots(org, trees);
  IF roots_after <> roots THEN
    RAISE EXCEPTION 'the Group was created meanwhile, in another tree' USING ERRCODE = 'MW005';
  END IF;

  at_time := coalesce(host_time, mwp.clock_text());
  RETURN QUERY SELECT 'clock', at_time;
  RETURN QUERY SELECT 'registry', o.registry_revision::text FROM mwp.organizations o WHERE o.organization_id = org;
  RETURN QUERY
    SELECT 'policy', p.document FROM mwp.policies p WHERE p.organization_id = org ORDER BY p.version DESC LIMIT 1;
  -- OFFSET 0 keeps these from becoming joins, which could be planned as scans of the whole tenant.
  RETURN QUERY
    SELECT 'receipt', row_to_json(hit)::text
    FROM json_to_recordset(receipts) AS w(type text, id text, action text)
    CROSS JOIN LATERAL (
      SELECT * FROM mwp.receipts r
      WHERE r.organization_id = org AND r.actor_type = w.type AND r.actor_id = w.id AND r.action_id = w.action OFFSET 0
    ) AS hit;
  RETURN QUERY
    SELECT 'admission', row_to_json(hit)::text
    FROM json_array_elements_text(hashes) AS w(hash)
    CROSS JOIN LATERAL (
      SELECT * FROM mwp.admissions a WHERE a.organization_id = org AND a.signing_hash = w.hash OFFSET 0
    ) AS hit;
  RETURN QUERY
    SELECT 'head', row_to_json(hit)::text
    FROM json_array_elements_text(groups) AS w(id)
    CROSS JOIN LATERAL (
      SELECT * FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = w.id OFFSET 0
    ) AS hit;
  RETURN QUERY
    SELECT 'aggregate', json_build_array(hit.kind, hit.id, hit.group_id, hit.version, hit.document)::text
    FROM json_to_recordset(ones) AS w(kind text, id text)
    CROSS JOIN LATERAL (
      SELECT * FROM mwp.aggregates a WHERE a.organization_id = org AND a.kind = w.kind AND a.id = w.id OFFSET 0
    ) AS hit;
  IF lists IS NOT NULL OR recents IS NOT NULL THEN
    RETURN QUERY
      SELECT l.section, l.body
      FROM mwp.load_reads(org, at_time, '[]', coalesce(lists, '[]'), coalesce(recents, '[]')) l;
  END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION mwp.tree_roots(org text, groups json) RETURNS text[] LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(array_agg(DISTINCT coalesce(hit.root_group_id, w.id) COLLATE "C"), '{}')
  FROM json_array_elements_text(groups) AS w(id)
  LEFT JOIN LATERAL (
    SELECT s.root_group_id FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = w.id OFFSET 0
  ) AS hit ON true
$$;
--> statement-breakpoint
-- Each head and each aggregate stands here once, as it is after all of the transitions; what was appended, in order.
CREATE FUNCTION mwp.write_batch(
  org text, heads json, transitions json, events json, changed json, created json, texts json, commands json,
  documents json, admissions json, receipts json, policy_log json
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  head record;
  change record;
  last bigint;
BEGIN
  -- Outside the transaction that `open_batch` began there is no tenant, and nothing may be written.
  IF current_setting('mwp.organization', true) IS DISTINCT FROM org THEN
    RAISE EXCEPTION 'not inside an acceptance' USING ERRCODE = 'MW004';
  END IF;

  FOR head IN
    SELECT * FROM json_to_recordset(heads) AS h(stream_id text, stream_kind text, is_new boolean, expected bigint,
                                                position bigint, revision bigint, last_event_at text, chain_hash text,
                                                log_hash text, policy_position bigint, root_group_id text)
  LOOP
    IF head.is_new THEN
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
  END LOOP;
  INSERT INTO mwp.transitions (organization_id, stream_id, revision, log_hash)
    SELECT org, t.stream_id, t.revision, t.log_hash
    FROM json_to_recordset(transitions) AS t(stream_id text, revision bigint, log_hash text);

  INSERT INTO mwp.events (organization_id, stream_id, position, event_id, kind, group_id, aggregate_revision, actor_type,
                          actor_id, occurred_at, command_hash, signing_hash, key_id, chain_hash, admission_record_id,
                          trusted_accepted_at, revision, body)
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
    SELECT * FROM json_to_recordset(changed) AS c(kind text, id text, group_id text, expected bigint, version bigint,
                                                  document text, hash text, state text, holder text, parent text)
  LOOP
    UPDATE mwp.aggregates a
      SET version = change.version, document = change.document::json, hash = change.hash, state = change.state,
          holder = change.holder, parent = change.parent
      WHERE a.organization_id = org AND a.kind = change.kind AND a.id = change.id AND a.version = change.expected
        AND a.group_id = change.group_id;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'an aggregate is not what it was' USING ERRCODE = 'MW001';
    END IF;
  END LOOP;
  IF created IS NOT NULL THEN
    INSERT INTO mwp.aggregates (organization_id, kind, id, group_id, version, document, hash, state, holder, parent)
      SELECT org, c.kind, c.id, c.group_id, c.version, c.document::json, c.hash, c.state, c.holder, c.parent
      FROM json_to_recordset(created) AS c(kind text, id text, group_id text, version bigint, document text, hash text,
                                         state text, holder text, parent text);
  END IF;

  -- A commitment is a hash of its text: who comes second brings the same.
  IF texts IS NOT NULL THEN
    INSERT INTO mwp.texts (organization_id, commitment, event_id, group_id, value)
      SELECT org, t.commitment, t.event_id, t.group_id, t.value FROM json_populate_recordset(NULL::mwp.texts, texts) t
      ON CONFLICT (organization_id, group_id, commitment) DO NOTHING;
  END IF;
  INSERT INTO mwp.commands (organization_id, signing_hash, actor_type, actor_id, action_id, kind, group_id, key_id,
                            issued_at, body)
    SELECT org, c.signing_hash, c.actor_type, c.actor_id, c.action_id, c.kind, c.group_id, c.key_id, c.issued_at, c.body
    FROM json_populate_recordset(NULL::mwp.commands, commands) c;
  -- The document that was accepted first stays, with the signature it came with.
  IF documents IS NOT NULL THEN
    INSERT INTO mwp.documents (organization_id, signing_hash, document_kind, group_id, key_id, principal_type,
                               principal_id, command_hash, body)
      SELECT org, d.signing_hash, d.document_kind, d.group_id, d.key_id, d.principal_type, d.principal_id,
             d.command_hash, d.body
      FROM json_populate_recordset(NULL::mwp.documents, documents) d
      ON CONFLICT (organization_id, signing_hash) DO NOTHING;
  END IF;
  IF admissions IS NOT NULL THEN
    INSERT INTO mwp.admissions (organization_id, signing_hash, admission_record_id, document_kind, key_id,
                                principal_type, principal_id, trusted_accepted_at, accepted_by_type, accepted_by_id,
                                stream_id, revision, record)
      SELECT org, a.signing_hash, a.admission_record_id, a.document_kind, a.key_id, a.principal_type, a.principal_id,
             a.trusted_accepted_at, a.accepted_by_type, a.accepted_by_id, a.stream_id, a.revision, a.record
      FROM json_populate_recordset(NULL::mwp.admissions, admissions) a;
  END IF;
  INSERT INTO mwp.receipts (organization_id, actor_type, actor_id, action_id, signing_hash, key_id, stream_id, revision,
                            primary_event_id, event_ids, accepted_at, body)
    SELECT org, r.actor_type, r.actor_id, r.action_id, r.signing_hash, r.key_id, r.stream_id, r.revision,
           r.primary_event_id, r.event_ids, r.accepted_at, r.body
    FROM json_populate_recordset(NULL::mwp.receipts, receipts) r;
  IF policy_log IS NOT NULL THEN
    INSERT INTO mwp.policy_log (organization_id, group_id, position, entry_id, decision, actor_type, actor_id,
                                occurred_at, details, event_id, revision)
      SELECT org, p.group_id, p.position, p.entry_id, p.decision, p.actor_type, p.actor_id, p.occurred_at, p.details,
             p.event_id, p.revision
      FROM json_populate_recordset(NULL::mwp.policy_log, policy_log) p
      ORDER BY p.group_id, p.position;
  END IF;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.open_batch, mwp.tree_roots, mwp.write_batch FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION mwp.open_batch, mwp.tree_roots, mwp.write_batch TO mwp_authority;
