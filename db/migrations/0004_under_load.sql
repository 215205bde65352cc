-- The functions of version 3 keep their names, arguments and results: processes of both versions work on this schema.
-- These two read the log once, while writers wait. On a large one create them before, with `create index concurrently` and these
-- names.
CREATE INDEX IF NOT EXISTS "_entry_prompt" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind = 'ai_config_change' and payload ->> 'field' = 'system_prompt' or is_anchor and payload -> 'operation' -> 'result_context' ? 'system_prompt';--> statement-breakpoint
CREATE INDEX IF NOT EXISTS "_entry_state" ON "lanefold"."_entry" USING btree ("thread_id","seq") WHERE kind = 'ai_state_change';--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "lease_ms" integer;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "agent_unknown_since" timestamptz;--> statement-breakpoint
CREATE INDEX "_run_due" ON "lanefold"."_run" USING btree ("enqueued_at") WHERE active and suspended_until is null;--> statement-breakpoint
CREATE INDEX "_run_suspended" ON "lanefold"."_run" USING btree ("suspended_until") WHERE suspended_until is not null;--> statement-breakpoint
-- What is appended never changes, so it may be frozen at once: by the vacuum that follows so many inserts anyway, when the pages
-- are still in memory, and not years later by one that reads and rewrites the whole log to keep the transaction ids from
-- wrapping around.
ALTER TABLE lanefold._entry SET (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE lanefold._event_batch SET (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0.02);
