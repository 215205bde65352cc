CREATE SCHEMA "lanefold";
--> statement-breakpoint
CREATE TABLE "lanefold"."_append_receipt" (
	"thread_id" text COLLATE "C" NOT NULL,
	"op_id" text COLLATE "C" NOT NULL,
	"first_seq" bigint NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "_append_receipt_thread_id_op_id_pk" PRIMARY KEY("thread_id","op_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."context_op" (
	"thread_id" text COLLATE "C" NOT NULL,
	"op_id" text COLLATE "C" NOT NULL,
	"context_ref" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"hash" text NOT NULL,
	"operation" jsonb,
	"entry_seq" bigint,
	"created_at" timestamptz DEFAULT clock_timestamp() NOT NULL,
	"settled_at" timestamptz,
	CONSTRAINT "context_op_thread_id_op_id_pk" PRIMARY KEY("thread_id","op_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_entry" (
	"seq" bigint NOT NULL,
	"at" timestamptz NOT NULL,
	"is_anchor" boolean DEFAULT false NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"context_ref" text COLLATE "C",
	"role" text,
	"op_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"request_id" text COLLATE "C",
	"payload" jsonb NOT NULL,
	"refs" jsonb,
	CONSTRAINT "_entry_thread_id_seq_pk" PRIMARY KEY("thread_id","seq")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_event_batch" (
	"event_seq" bigint NOT NULL,
	"at" timestamptz NOT NULL,
	"entry_seq" bigint NOT NULL,
	"seq" integer NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"events" json NOT NULL,
	CONSTRAINT "_event_batch_thread_id_event_seq_pk" PRIMARY KEY("thread_id","event_seq")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_lane" (
	"thread_id" text COLLATE "C" NOT NULL,
	"context_ref" text COLLATE "C" NOT NULL,
	CONSTRAINT "_lane_thread_id_context_ref_pk" PRIMARY KEY("thread_id","context_ref")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."pending_input" (
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"ordinal" integer NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"source" text NOT NULL,
	"content" text NOT NULL,
	"refs" jsonb,
	"status" text NOT NULL,
	"entry_seq" bigint,
	"created_at" timestamptz NOT NULL,
	"settled_at" timestamptz,
	CONSTRAINT "pending_input_thread_id_run_id_ordinal_pk" PRIMARY KEY("thread_id","run_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_run" (
	"lease" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamptz,
	"created_at" timestamptz NOT NULL,
	"started_at" timestamptz,
	"finished_at" timestamptz,
	"enqueued_at" timestamptz,
	"sealed_at" timestamptz,
	"cancel_requested_at" timestamptz,
	"suspended_until" timestamptz,
	"trace_dropped_at" timestamptz,
	"user_seq" bigint,
	"result_seq" bigint,
	"enqueue_no" integer DEFAULT 0 NOT NULL,
	"step" integer DEFAULT 0 NOT NULL,
	"iteration" integer DEFAULT 0 NOT NULL,
	"event_count" integer DEFAULT 0 NOT NULL,
	"queued_inputs" integer DEFAULT 0 NOT NULL,
	"fruitless_claims" smallint DEFAULT 0 NOT NULL,
	"queue_shard" smallint DEFAULT 0 NOT NULL,
	"trace_truncated" boolean DEFAULT false NOT NULL,
	"active" boolean NOT NULL,
	"interrupts" boolean DEFAULT false NOT NULL,
	"status" text NOT NULL,
	"queue_prefix" text DEFAULT 'lf' NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"request_id" text COLLATE "C",
	"request_hash" "bytea" NOT NULL,
	"agent" text NOT NULL,
	"strategy" text NOT NULL,
	"model" text NOT NULL,
	"context_ref" text COLLATE "C" NOT NULL,
	"termination_reason" text,
	"worker_id" text COLLATE "C",
	"input" jsonb,
	"options" jsonb,
	"usage" jsonb,
	"result" jsonb,
	"error" jsonb,
	"state" jsonb,
	"last_commit" jsonb,
	"cancel_reason" text,
	CONSTRAINT "_run_thread_id_id_pk" PRIMARY KEY("thread_id","id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."thread" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"rev" bigint DEFAULT 0 NOT NULL,
	"event_rev" bigint DEFAULT 0 NOT NULL,
	"active_context_ref" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"active_run_id" text COLLATE "C",
	"waiting_runs" integer DEFAULT 0 NOT NULL,
	"pending_op_id" text COLLATE "C",
	"pending_config" jsonb,
	"configured" boolean DEFAULT false NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"state" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"parent_thread_id" text COLLATE "C",
	"fork_seq" bigint,
	"created_at" timestamptz DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamptz DEFAULT clock_timestamp() NOT NULL,
	"erased_at" timestamptz
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_tool_call" (
	"call_seq" bigint NOT NULL,
	"result_seq" bigint,
	"started_at" timestamptz,
	"finished_at" timestamptz,
	"round" integer NOT NULL,
	"duration_ms" integer,
	"call_index" smallint NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"status" text NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"tool_call_id" text NOT NULL,
	"name" text NOT NULL,
	"outcome" jsonb,
	"approval" jsonb,
	CONSTRAINT "_tool_call_thread_id_run_id_round_call_index_pk" PRIMARY KEY("thread_id","run_id","round","call_index")
);
--> statement-breakpoint
CREATE INDEX "_entry_lane" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind = 'ai_message';--> statement-breakpoint
CREATE INDEX "_entry_control" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind in ('ai_context_operation', 'ai_config_change');--> statement-breakpoint
CREATE UNIQUE INDEX "pending_input_id" ON "lanefold"."pending_input" USING btree ("thread_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "_run_request" ON "lanefold"."_run" USING btree ("thread_id","request_id") WHERE request_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "_run_active" ON "lanefold"."_run" USING btree ("thread_id") WHERE active;--> statement-breakpoint
CREATE INDEX "_run_waiting" ON "lanefold"."_run" USING btree ("thread_id","created_at") WHERE not active and finished_at is null;--> statement-breakpoint
CREATE INDEX "_run_trace" ON "lanefold"."_run" USING btree ("finished_at") WHERE finished_at is not null and trace_dropped_at is null;