-- What an actor did lately is counted up to the limit that it is compared with, and no further (src/domain/reads.ts). The
-- rest of load_reads is as it was.
CREATE OR REPLACE FUNCTION mwp.load_reads(org text, at_time text, ones json, lists json, recents json)
RETURNS TABLE (section text, body text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted record;
  one_state text;
  maximum CONSTANT bigint := 10001;
  limits json;
  near bigint;
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
  -- A policy may have become narrower, so what counts are the newest Events, as many as the limit; who asks without naming
  -- one is a process of the release before, and gets all that a policy could allow.
  FOR wanted IN
    SELECT r."groupId" AS group_id, r."eventKind" AS kind, r."actorType" AS actor_type, r."actorId" AS actor_id,
           to_char((at_time::timestamptz - r.seconds * interval '1 second') AT TIME ZONE 'UTC',
                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since, r."limit" AS name, 100000::bigint AS most
    FROM json_to_recordset(recents)
      AS r("groupId" text, "eventKind" text, "actorType" text, "actorId" text, seconds double precision, "limit" text)
  LOOP
    IF wanted.name IS NOT NULL THEN
      IF limits IS NULL THEN
        SELECT p.document::json -> 'limits' INTO limits
        FROM mwp.policies p WHERE p.organization_id = org ORDER BY p.version DESC LIMIT 1;
      END IF;
      wanted.most := coalesce((limits ->> wanted.name)::bigint, wanted.most);
    END IF;
    -- All Events of the Group together, counted by their positions, may show that the limit is far: one look, not a count.
    near := wanted.most - 1000;
    IF near > 0 AND NOT EXISTS (
      SELECT 1 FROM mwp.events e
      WHERE e.organization_id = org AND e.stream_id = wanted.group_id AND e.occurred_at > wanted.since
        AND e.position = (
          SELECT s.position - near + 1 FROM mwp.streams s
          WHERE s.organization_id = org AND s.stream_id = wanted.group_id
        )
    ) THEN
      RETURN QUERY SELECT 'recent', '{"count":0,"oldest":null}';
    ELSE
      RETURN QUERY
        SELECT 'recent', json_build_object('count', count(*), 'oldest', min(newest.occurred_at))::text
        FROM (
          SELECT e.occurred_at FROM mwp.events e
          WHERE e.organization_id = org AND e.group_id = wanted.group_id AND e.group_id <> '' AND e.kind = wanted.kind
            AND e.actor_id = wanted.actor_id AND e.occurred_at > wanted.since AND e.actor_type = wanted.actor_type
          ORDER BY e.occurred_at DESC LIMIT wanted.most
        ) AS newest;
    END IF;
  END LOOP;
END $$;
