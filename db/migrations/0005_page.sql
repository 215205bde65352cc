CREATE INDEX "_entry_words" ON "lanefold"."_entry" USING gin (to_tsvector('simple', left(payload ->> 'content', 2000))) WITH (fastupdate=false) WHERE kind = 'ai_message' and role = 'user';--> statement-breakpoint
CREATE INDEX "_run_created" ON "lanefold"."_run" USING btree ("created_at","thread_id","id");--> statement-breakpoint
CREATE INDEX "_run_failed" ON "lanefold"."_run" USING btree ("created_at","thread_id","id") WHERE error is not null and termination_reason <> 'cancelled';--> statement-breakpoint
CREATE INDEX "thread_created" ON "lanefold"."thread" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "thread_tenant" ON "lanefold"."thread" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "thread_metadata" ON "lanefold"."thread" USING gin (metadata jsonb_path_ops);