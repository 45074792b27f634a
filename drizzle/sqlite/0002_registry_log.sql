CREATE TABLE `registry_log` (
	`organization_id` text NOT NULL,
	`revision` integer NOT NULL,
	`recorded_at` text NOT NULL,
	`changes` text NOT NULL,
	`hash` text NOT NULL,
	`seal` text NOT NULL,
	PRIMARY KEY(`organization_id`, `revision`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`organization_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "registry_log_revision" CHECK(revision >= 1)
);
CREATE TRIGGER registry_log_unchanged BEFORE UPDATE ON registry_log BEGIN SELECT RAISE(ABORT, 'rows of registry_log are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER registry_log_kept BEFORE DELETE ON registry_log BEGIN SELECT RAISE(ABORT, 'rows of registry_log are never changed'); END;
--> statement-breakpoint
-- What was registered before there was a log is its first entry, without hash and seal: nobody can vouch for it any more.
INSERT INTO registry_log (organization_id, revision, recorded_at, changes, hash, seal)
SELECT o.organization_id, o.registry_revision, o.created_at, json_object(
  'organization', json_object(
    'organizationId', o.organization_id, 'slug', o.slug, 'displayName', o.display_name, 'createdAt', o.created_at,
    'authority', json_object('type', o.authority_type, 'id', o.authority_id),
    'identity', json_object('type', o.identity_type, 'id', o.identity_id),
    'registrar', json_object('type', o.registrar_type, 'id', o.registrar_id)),
  'principals', json((SELECT json_group_array(json_object(
      'principal', json_object('type', principal_type, 'id', principal_id), 'displayName', display_name))
    FROM (SELECT * FROM principals ORDER BY principal_type, principal_id) WHERE organization_id = o.organization_id)),
  'bindings', json((SELECT json_group_array(json_object(
      'keyId', key_id, 'principal', json_object('type', principal_type, 'id', principal_id),
      'algorithm', algorithm, 'publicKey', public_key, 'validFrom', valid_from))
    FROM (SELECT * FROM key_bindings ORDER BY key_id) WHERE organization_id = o.organization_id)),
  'validity', json((SELECT json_group_array(json_patch('{}', json_object(
      'keyId', key_id, 'sequence', sequence, 'recordedAt', recorded_at, 'validUntil', valid_until, 'revokedAt', revoked_at)))
    FROM (SELECT * FROM key_validity ORDER BY key_id, sequence) WHERE organization_id = o.organization_id)),
  'policies', json((SELECT json_group_array(json_object('version', version, 'document', document))
    FROM (SELECT * FROM policies ORDER BY version) WHERE organization_id = o.organization_id))
  ), '', ''
FROM organizations o WHERE o.registry_revision >= 1;
--> statement-breakpoint
CREATE TRIGGER organizations_logged BEFORE UPDATE OF registry_revision ON organizations WHEN NOT EXISTS (SELECT 1 FROM registry_log WHERE organization_id = NEW.organization_id AND revision = NEW.registry_revision) BEGIN SELECT RAISE(ABORT, 'the log of the Registry has no such revision'); END;
