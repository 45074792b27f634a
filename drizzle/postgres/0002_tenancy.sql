-- Who may see what. The service works as `mwp_authority`: not the owner, no superuser, no BYPASSRLS. `mwp_directory`
-- owns the few reads that cross tenants. Both are roles of the whole cluster, so another database may have made them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['mwp_authority', 'mwp_directory'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END IF;
    IF NOT pg_has_role(current_user, name, 'MEMBER') THEN
      EXECUTE format('GRANT %I TO CURRENT_USER', name);
    END IF;
    -- From PostgreSQL 16 on, who creates a role is a member that may not act as it until it says so.
    IF current_setting('server_version_num')::integer >= 160000 THEN
      IF NOT pg_has_role(current_user, name, 'SET') THEN
        EXECUTE format('GRANT %I TO CURRENT_USER WITH SET TRUE', name);
      END IF;
    END IF;
  END LOOP;
END $$;
--> statement-breakpoint
-- Every table, also for its owner. Without a tenant the setting is missing or empty, and nothing matches.
DO $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'mwp'::regnamespace AND relkind IN ('r', 'p') LOOP
    EXECUTE format('ALTER TABLE mwp.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE mwp.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON mwp.%I
                      USING (organization_id = nullif(current_setting(''mwp.organization'', true), ''''))
                      WITH CHECK (organization_id = nullif(current_setting(''mwp.organization'', true), ''''))', name);
  END LOOP;
END $$;
--> statement-breakpoint
GRANT USAGE ON SCHEMA mwp, drizzle TO mwp_authority;
--> statement-breakpoint
GRANT SELECT ON drizzle.__drizzle_migrations TO mwp_authority;
--> statement-breakpoint
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA mwp TO mwp_authority;
--> statement-breakpoint
GRANT UPDATE (registry_revision) ON mwp.organizations TO mwp_authority;
--> statement-breakpoint
GRANT UPDATE (position, revision, last_event_at, chain_hash, log_hash, policy_position) ON mwp.streams TO mwp_authority;
--> statement-breakpoint
GRANT UPDATE (version, document, hash, state, holder, parent) ON mwp.aggregates TO mwp_authority;
--> statement-breakpoint
GRANT DELETE ON mwp.audit, mwp.challenges TO mwp_authority;
--> statement-breakpoint
-- The reads that cross tenants: the whole list of them.
CREATE FUNCTION mwp.organization_by_slug(wanted text) RETURNS SETOF mwp.organizations
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT * FROM mwp.organizations WHERE slug = wanted
$$;
--> statement-breakpoint
CREATE FUNCTION mwp.organizations_after(after_slug text, maximum bigint) RETURNS SETOF mwp.organizations
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT * FROM mwp.organizations WHERE slug > after_slug ORDER BY slug LIMIT maximum
$$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.organization_by_slug, mwp.organizations_after FROM PUBLIC;
--> statement-breakpoint
GRANT EXECUTE ON FUNCTION mwp.organization_by_slug, mwp.organizations_after TO mwp_authority;
--> statement-breakpoint
GRANT USAGE, CREATE ON SCHEMA mwp TO mwp_directory;
--> statement-breakpoint
GRANT SELECT ON mwp.organizations TO mwp_directory;
--> statement-breakpoint
CREATE POLICY directory ON mwp.organizations FOR SELECT TO mwp_directory USING (true);
--> statement-breakpoint
ALTER FUNCTION mwp.organization_by_slug OWNER TO mwp_directory;
--> statement-breakpoint
ALTER FUNCTION mwp.organizations_after OWNER TO mwp_directory;
--> statement-breakpoint
REVOKE CREATE ON SCHEMA mwp FROM mwp_directory;
