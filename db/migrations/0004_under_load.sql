-- The functions of version 3 keep their names, arguments and results: processes of both versions work on this schema.
ALTER TABLE "lanefold"."_run" ADD COLUMN "agent_unknown_since" timestamptz;--> statement-breakpoint
CREATE INDEX "_run_due" ON "lanefold"."_run" USING btree ("enqueued_at") WHERE active and suspended_until is null;--> statement-breakpoint
CREATE INDEX "_run_suspended" ON "lanefold"."_run" USING btree ("suspended_until") WHERE suspended_until is not null;
