-- What is accepted is never altered (MWP-FND-013c, MWP-SDV-012a, MWP-ADM-003a), and sequences have no gap (MWP-EVT-005a).
CREATE TRIGGER principals_unchanged BEFORE UPDATE ON principals BEGIN SELECT RAISE(ABORT, 'rows of principals are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER principals_kept BEFORE DELETE ON principals BEGIN SELECT RAISE(ABORT, 'rows of principals are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER key_bindings_unchanged BEFORE UPDATE ON key_bindings BEGIN SELECT RAISE(ABORT, 'rows of key_bindings are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER key_bindings_kept BEFORE DELETE ON key_bindings BEGIN SELECT RAISE(ABORT, 'rows of key_bindings are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER key_validity_unchanged BEFORE UPDATE ON key_validity BEGIN SELECT RAISE(ABORT, 'rows of key_validity are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER key_validity_kept BEFORE DELETE ON key_validity BEGIN SELECT RAISE(ABORT, 'rows of key_validity are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER policies_unchanged BEFORE UPDATE ON policies BEGIN SELECT RAISE(ABORT, 'rows of policies are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER policies_kept BEFORE DELETE ON policies BEGIN SELECT RAISE(ABORT, 'rows of policies are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER admissions_unchanged BEFORE UPDATE ON admissions BEGIN SELECT RAISE(ABORT, 'rows of admissions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER admissions_kept BEFORE DELETE ON admissions BEGIN SELECT RAISE(ABORT, 'rows of admissions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER transitions_unchanged BEFORE UPDATE ON transitions BEGIN SELECT RAISE(ABORT, 'rows of transitions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER transitions_kept BEFORE DELETE ON transitions BEGIN SELECT RAISE(ABORT, 'rows of transitions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER receipts_unchanged BEFORE UPDATE ON receipts BEGIN SELECT RAISE(ABORT, 'rows of receipts are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER receipts_kept BEFORE DELETE ON receipts BEGIN SELECT RAISE(ABORT, 'rows of receipts are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER policy_log_unchanged BEFORE UPDATE ON policy_log BEGIN SELECT RAISE(ABORT, 'rows of policy_log are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER policy_log_kept BEFORE DELETE ON policy_log BEGIN SELECT RAISE(ABORT, 'rows of policy_log are never changed'); END;
--> statement-breakpoint
-- A seal or an erasure may take the body out, once; nothing else of the row moves.
CREATE TRIGGER events_unchanged BEFORE UPDATE OF organization_id, stream_id, position, event_id, kind, group_id, aggregate_revision, actor_type, actor_id, occurred_at, command_hash, signing_hash, key_id, chain_hash, admission_record_id, trusted_accepted_at, revision ON events BEGIN SELECT RAISE(ABORT, 'rows of events are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER events_body_only_out BEFORE UPDATE OF body ON events WHEN NEW.body IS NOT NULL BEGIN SELECT RAISE(ABORT, 'rows of events are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER events_kept BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'rows of events are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER commands_unchanged BEFORE UPDATE OF organization_id, signing_hash, actor_type, actor_id, action_id, kind, group_id, key_id, issued_at ON commands BEGIN SELECT RAISE(ABORT, 'rows of commands are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER commands_body_only_out BEFORE UPDATE OF body ON commands WHEN NEW.body IS NOT NULL BEGIN SELECT RAISE(ABORT, 'rows of commands are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER commands_kept BEFORE DELETE ON commands BEGIN SELECT RAISE(ABORT, 'rows of commands are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER documents_unchanged BEFORE UPDATE OF organization_id, signing_hash, document_kind, group_id, key_id, principal_type, principal_id, command_hash ON documents BEGIN SELECT RAISE(ABORT, 'rows of documents are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER documents_body_only_out BEFORE UPDATE OF body ON documents WHEN NEW.body IS NOT NULL BEGIN SELECT RAISE(ABORT, 'rows of documents are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER documents_kept BEFORE DELETE ON documents BEGIN SELECT RAISE(ABORT, 'rows of documents are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER streams_forward BEFORE UPDATE ON streams WHEN NEW.organization_id <> OLD.organization_id OR NEW.stream_id <> OLD.stream_id OR NEW.stream_kind <> OLD.stream_kind OR NEW.root_group_id <> OLD.root_group_id OR NEW.position < OLD.position OR NEW.revision <= OLD.revision OR NEW.policy_position < OLD.policy_position BEGIN SELECT RAISE(ABORT, 'a stream only moves forward'); END;
--> statement-breakpoint
CREATE TRIGGER streams_kept BEFORE DELETE ON streams BEGIN SELECT RAISE(ABORT, 'rows of streams are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER events_gapless BEFORE INSERT ON events WHEN NEW.position <> 1 + coalesce((SELECT max(position) FROM events WHERE organization_id = NEW.organization_id AND stream_id = NEW.stream_id), 0) BEGIN SELECT RAISE(ABORT, 'this position does not follow the last'); END;
--> statement-breakpoint
CREATE TRIGGER policy_log_gapless BEFORE INSERT ON policy_log WHEN NEW.position <> 1 + coalesce((SELECT max(position) FROM policy_log WHERE organization_id = NEW.organization_id AND group_id = NEW.group_id), 0) BEGIN SELECT RAISE(ABORT, 'this policy entry does not follow the last'); END;
