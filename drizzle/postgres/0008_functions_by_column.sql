-- A function that answers the row type of a table fails once, with "return type mismatch", when that table gets a column
-- between the moment its type and the moment its body is looked up (decision 16). These name their columns; those that they
-- take the place of are left to the release before.
CREATE FUNCTION mwp.organization_named(wanted text)
RETURNS TABLE (organization_id text, slug text, display_name text, created_at text, authority_type text,
               authority_id text, identity_type text, identity_id text, registrar_type text, registrar_id text,
               registry_revision bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT o.organization_id, o.slug, o.display_name, o.created_at, o.authority_type, o.authority_id, o.identity_type,
         o.identity_id, o.registrar_type, o.registrar_id, o.registry_revision
    FROM mwp.organizations o WHERE o.slug = wanted
$$;
--> statement-breakpoint
CREATE FUNCTION mwp.organizations_beyond(after_slug text, maximum bigint)
RETURNS TABLE (organization_id text, slug text, display_name text, created_at text, authority_type text,
               authority_id text, identity_type text, identity_id text, registrar_type text, registrar_id text,
               registry_revision bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT o.organization_id, o.slug, o.display_name, o.created_at, o.authority_type, o.authority_id, o.identity_type,
         o.identity_id, o.registrar_type, o.registrar_id, o.registry_revision
    FROM mwp.organizations o WHERE o.slug > after_slug ORDER BY o.slug LIMIT maximum
$$;
--> statement-breakpoint
CREATE FUNCTION mwp.lock_streams(org text, groups json)
RETURNS TABLE (organization_id text, stream_id text, stream_kind text, "position" bigint, revision bigint,
               last_event_at text, chain_hash text, log_hash text, policy_position bigint, root_group_id text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  wanted text;
BEGIN
  PERFORM mwp.lock_heads(org, groups);
  FOR wanted IN SELECT value FROM json_array_elements_text(groups) LOOP
    RETURN QUERY
      SELECT s.organization_id, s.stream_id, s.stream_kind, s.position, s.revision, s.last_event_at, s.chain_hash,
             s.log_hash, s.policy_position, s.root_group_id
        FROM mwp.streams s WHERE s.organization_id = org AND s.stream_id = wanted;
  END LOOP;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.organization_named, mwp.organizations_beyond, mwp.lock_streams FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION mwp.organization_named, mwp.organizations_beyond, mwp.lock_streams TO mwp_authority;
--> statement-breakpoint
GRANT CREATE ON SCHEMA mwp TO mwp_directory;
--> statement-breakpoint
ALTER FUNCTION mwp.organization_named OWNER TO mwp_directory;
--> statement-breakpoint
ALTER FUNCTION mwp.organizations_beyond OWNER TO mwp_directory;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA mwp FROM mwp_directory;
