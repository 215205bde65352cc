ALTER TABLE "lanefold"."_run" ADD COLUMN "first_event_seq" bigint;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "last_event_seq" bigint;