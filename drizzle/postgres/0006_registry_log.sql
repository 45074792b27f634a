CREATE TABLE "mwp"."registry_log" (
	"organization_id" text COLLATE "C" NOT NULL,
	"revision" bigint NOT NULL,
	"recorded_at" text COLLATE "C" NOT NULL,
	"changes" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C" NOT NULL,
	"seal" text COLLATE "C" NOT NULL,
	CONSTRAINT "registry_log_pkey" PRIMARY KEY("organization_id","revision"),
	CONSTRAINT "registry_log_revision" CHECK (revision >= 1)
);
--> statement-breakpoint
ALTER TABLE "mwp"."registry_log" ADD CONSTRAINT "registry_log_organization" FOREIGN KEY ("organization_id") REFERENCES "mwp"."organizations"("organization_id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "mwp"."registry_log" ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
ALTER TABLE "mwp"."registry_log" FORCE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mwp.registry_log
  USING (organization_id = nullif(current_setting('mwp.organization', true), ''))
  WITH CHECK (organization_id = nullif(current_setting('mwp.organization', true), ''));
--> statement-breakpoint
GRANT SELECT, INSERT ON mwp.registry_log TO mwp_authority;
--> statement-breakpoint
CREATE TRIGGER registry_log_immutable BEFORE UPDATE OR DELETE ON mwp.registry_log
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
CREATE TRIGGER registry_log_kept BEFORE TRUNCATE ON mwp.registry_log
  FOR EACH STATEMENT EXECUTE FUNCTION mwp.refuse_change();
--> statement-breakpoint
-- No revision without its entry. It also keeps the release before this one from changing a Registry past the log; all else
-- it may go on with.
CREATE FUNCTION mwp.refuse_unlogged_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM mwp.registry_log r
                 WHERE r.organization_id = NEW.organization_id AND r.revision = NEW.registry_revision) THEN
    RAISE EXCEPTION 'the log of the Registry has no revision %', NEW.registry_revision USING ERRCODE = 'MW002';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION mwp.refuse_unlogged_revision FROM PUBLIC;
--> statement-breakpoint
CREATE TRIGGER organizations_logged BEFORE UPDATE OF registry_revision ON mwp.organizations
  FOR EACH ROW EXECUTE FUNCTION mwp.refuse_unlogged_revision();
--> statement-breakpoint
-- What was registered before there was a log is its first entry, without hash and seal: nobody can vouch for it any more.
-- From here on nobody raises a revision before this transaction is over.
DO $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT * FROM mwp.organizations_after('', 9223372036854775807) LOOP
    PERFORM set_config('mwp.organization', one.organization_id, true);
    INSERT INTO mwp.registry_log (organization_id, revision, recorded_at, changes, hash, seal)
    SELECT one.organization_id, one.registry_revision, one.created_at, json_build_object(
      'organization', json_build_object(
        'organizationId', one.organization_id, 'slug', one.slug, 'displayName', one.display_name,
        'createdAt', one.created_at,
        'authority', json_build_object('type', one.authority_type, 'id', one.authority_id),
        'identity', json_build_object('type', one.identity_type, 'id', one.identity_id),
        'registrar', json_build_object('type', one.registrar_type, 'id', one.registrar_id)),
      'principals', (SELECT coalesce(json_agg(json_build_object(
          'principal', json_build_object('type', principal_type, 'id', principal_id), 'displayName', display_name)
          ORDER BY principal_type, principal_id), '[]') FROM mwp.principals WHERE organization_id = one.organization_id),
      'bindings', (SELECT coalesce(json_agg(json_build_object(
          'keyId', key_id, 'principal', json_build_object('type', principal_type, 'id', principal_id),
          'algorithm', algorithm, 'publicKey', public_key, 'validFrom', valid_from) ORDER BY key_id), '[]')
        FROM mwp.key_bindings WHERE organization_id = one.organization_id),
      'validity', (SELECT coalesce(json_agg(json_strip_nulls(json_build_object(
          'keyId', key_id, 'sequence', sequence, 'recordedAt', recorded_at, 'validUntil', valid_until,
          'revokedAt', revoked_at)) ORDER BY key_id, sequence), '[]')
        FROM mwp.key_validity WHERE organization_id = one.organization_id),
      'policies', (SELECT coalesce(json_agg(json_build_object('version', version, 'document', document::text)
          ORDER BY version), '[]') FROM mwp.policies WHERE organization_id = one.organization_id)
      )::text, '', ''
    WHERE one.registry_revision >= 1;
  END LOOP;
  PERFORM set_config('mwp.organization', '', true);
END $$;
