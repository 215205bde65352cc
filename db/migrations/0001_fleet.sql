ALTER TABLE "lanefold"."_run" ADD COLUMN "unknown_tools" text[];--> statement-breakpoint
ALTER TABLE "lanefold"."_worker" ADD COLUMN "tools" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_worker" ADD COLUMN "silences" "tstzmultirange" DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "_worker_running" ON "lanefold"."_worker" USING btree ("queue_prefix") WHERE "lanefold"."_worker"."stopped_at" is null;