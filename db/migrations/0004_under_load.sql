-- The functions of version 3 keep their names, arguments and results: processes of both versions work on this schema.
CREATE INDEX "_entry_prompt" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind = 'ai_config_change' and payload ->> 'field' = 'system_prompt' or is_anchor and payload -> 'operation' -> 'result_context' ? 'system_prompt';--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "lease_ms" integer;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "agent_unknown_since" timestamptz;--> statement-breakpoint
CREATE INDEX "_run_due" ON "lanefold"."_run" USING btree ("enqueued_at") WHERE active and suspended_until is null;--> statement-breakpoint
CREATE INDEX "_run_suspended" ON "lanefold"."_run" USING btree ("suspended_until") WHERE suspended_until is not null;
