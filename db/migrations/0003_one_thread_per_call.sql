ALTER TABLE "lanefold"."_run" RENAME COLUMN "fruitless_claims" TO "claims_without_progress";--> statement-breakpoint
-- Times come from lanefold._now(), written by the functions.
ALTER TABLE "lanefold"."thread" ALTER COLUMN "created_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "lanefold"."thread" ALTER COLUMN "updated_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "lanefold"."context_op" ALTER COLUMN "created_at" DROP DEFAULT;
--> statement-breakpoint
-- These views are made again over tables, without functions; their columns change collation, which a view cannot in place.
DROP VIEW IF EXISTS lanefold.lane, lanefold.lane_context;--> statement-breakpoint
DROP FUNCTION IF EXISTS
  lanefold.create_thread(jsonb),
  lanefold.enqueue_run(jsonb),
  lanefold.renew_leases(jsonb, int),
  lanefold.sweep_runs(int, int, jsonb, text, int, text[]),
  lanefold.drop_traces(float8, int),
  lanefold._add_job(text, text, text, int, text),
  lanefold._lane_head(text, text),
  lanefold._merge_durable(jsonb, jsonb),
  lanefold._settle_after_finish(text, text),
  lanefold._write_config(text, text, jsonb);
