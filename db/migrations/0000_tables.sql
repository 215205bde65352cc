CREATE SCHEMA "lanefold";
--> statement-breakpoint
CREATE TABLE "lanefold"."_activity" (
	"at" timestamptz NOT NULL,
	"runs" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"unanswered" bigint NOT NULL,
	"started" bigint NOT NULL,
	"waited_ms" bigint NOT NULL,
	"calls" bigint NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cached_tokens" bigint NOT NULL,
	"written_tokens" bigint NOT NULL,
	"minutes" smallint NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"agent" text NOT NULL,
	"agent_version" text COLLATE "C" NOT NULL,
	"model" text NOT NULL,
	CONSTRAINT "_activity_minutes_at_tenant_id_agent_agent_version_model_pk" PRIMARY KEY("minutes","at","tenant_id","agent","agent_version","model")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_activity_fact" (
	"at" timestamptz NOT NULL,
	"last_at" timestamptz NOT NULL,
	"runs" bigint NOT NULL,
	"minutes" smallint NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"agent" text NOT NULL,
	"agent_version" text COLLATE "C" NOT NULL,
	"fact" text COLLATE "C" NOT NULL,
	"value" text NOT NULL,
	CONSTRAINT "_activity_fact_minutes_at_tenant_id_agent_agent_version_fact_value_pk" PRIMARY KEY("minutes","at","tenant_id","agent","agent_version","fact","value")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_activity_state" (
	"counted_to" timestamptz,
	"began_at" timestamptz,
	"filled_to" timestamptz,
	"next_to" timestamptz,
	"next_xid" bigint,
	"id" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "_activity_state_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_agent_version" (
	"first_at" timestamptz NOT NULL,
	"last_at" timestamptz NOT NULL,
	"agent" text NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"definition" jsonb NOT NULL,
	"label" text,
	CONSTRAINT "_agent_version_agent_id_pk" PRIMARY KEY("agent","id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_alarm" (
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"taken_at" timestamptz,
	"held_until" timestamptz,
	"counted_at" timestamptz,
	"paused_at" timestamptz,
	"raised_at" timestamptz,
	"calm_since" timestamptz,
	"runs" bigint,
	"all_runs" bigint,
	"turns" bigint DEFAULT 0 NOT NULL,
	"more_than" bigint NOT NULL,
	"within_ms" bigint NOT NULL,
	"clear_after_ms" bigint NOT NULL,
	"share" double precision,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"filter" jsonb NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "_alarm_tenant_id_name_pk" PRIMARY KEY("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_alarm_count" (
	"at" timestamptz NOT NULL,
	"runs" bigint NOT NULL,
	"all_runs" bigint,
	"raised" boolean NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"alarm" text COLLATE "C" NOT NULL,
	CONSTRAINT "_alarm_count_tenant_id_alarm_at_pk" PRIMARY KEY("tenant_id","alarm","at")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_api_key" (
	"id" text COLLATE "C" NOT NULL,
	"hash" "bytea" NOT NULL,
	"name" text NOT NULL,
	"tenant_id" text COLLATE "C",
	"allowed" jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamptz NOT NULL,
	"expires_at" timestamptz,
	"revoked_at" timestamptz,
	CONSTRAINT "_api_key_id_hash_pk" PRIMARY KEY("id","hash")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_append_receipt" (
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"op_id" text COLLATE "C" NOT NULL,
	"first_seq" bigint NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "_append_receipt_thread_id_op_id_pk" PRIMARY KEY("thread_id","op_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_audit" (
	"no" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "lanefold"."_audit_no_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamptz NOT NULL,
	"tenant_id" text COLLATE "C",
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"thread_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"detail" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_child_run" (
	"ended_at" timestamptz,
	"told_at" timestamptz,
	"parent_round" integer NOT NULL,
	"parent_index" smallint NOT NULL,
	"depth" smallint NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"parent_thread_id" text COLLATE "C" NOT NULL,
	"parent_run_id" text COLLATE "C" NOT NULL,
	"root_thread_id" text COLLATE "C" NOT NULL,
	"root_run_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "_child_run_thread_id_run_id_pk" PRIMARY KEY("thread_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_circuit" (
	"half_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"opened_at" timestamptz,
	"open_until" timestamptz,
	"probe_until" timestamptz,
	"turns" bigint DEFAULT 0 NOT NULL,
	"ok" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"ok_before" integer DEFAULT 0 NOT NULL,
	"failed_before" integer DEFAULT 0 NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"state" text DEFAULT 'closed' NOT NULL,
	"probe" text,
	"reason" text,
	"opened_by" text,
	CONSTRAINT "_circuit_model_pk" PRIMARY KEY("model")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."content" (
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"home_thread_id" text COLLATE "C",
	"chars" integer NOT NULL,
	"bytes" integer NOT NULL,
	"created_at" timestamptz NOT NULL,
	"text" text,
	CONSTRAINT "content_thread_id_id_pk" PRIMARY KEY("thread_id","id"),
	CONSTRAINT "content_somewhere" CHECK ((text is null) = (home_thread_id is not null))
);
--> statement-breakpoint
CREATE TABLE "lanefold"."context_op" (
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"op_id" text COLLATE "C" NOT NULL,
	"context_ref" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"reason" text NOT NULL,
	"status" text NOT NULL,
	"hash" text NOT NULL,
	"operation" jsonb,
	"entry_seq" bigint,
	"created_at" timestamptz NOT NULL,
	"settled_at" timestamptz,
	CONSTRAINT "context_op_thread_id_op_id_pk" PRIMARY KEY("thread_id","op_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_entry" (
	"seq" bigint NOT NULL,
	"at" timestamptz NOT NULL,
	"is_anchor" boolean DEFAULT false NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"context_ref" text COLLATE "C",
	"role" text,
	"op_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"request_id" text COLLATE "C",
	"payload" jsonb NOT NULL,
	"refs" jsonb,
	"bytes" integer,
	"hash" "bytea",
	CONSTRAINT "_entry_thread_id_seq_pk" PRIMARY KEY("thread_id","seq")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_case" (
	"seq" bigint NOT NULL,
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"erased_at" timestamptz,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"dataset" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C",
	"llm_call_id" text COLLATE "C",
	"context_ref" text COLLATE "C" NOT NULL,
	"context_hash" text NOT NULL,
	"agent" text NOT NULL,
	"model" text NOT NULL,
	"tags" text[] NOT NULL,
	"split" text,
	"expected" jsonb,
	"note" text,
	"kept_by" text NOT NULL,
	CONSTRAINT "_case_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_eval_item" (
	"no" integer NOT NULL,
	"repeat" integer NOT NULL,
	"taken_at" timestamptz,
	"held_until" timestamptz,
	"settled_at" timestamptz,
	"duration_ms" bigint,
	"input_tokens" bigint,
	"output_tokens" bigint,
	"estimated_tokens" bigint,
	"cost_micros" bigint,
	"reserved_micros" bigint,
	"reused" boolean DEFAULT false NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"eval_id" text COLLATE "C" NOT NULL,
	"case_id" text COLLATE "C" NOT NULL,
	"source_thread_id" text COLLATE "C" NOT NULL,
	"variant" text NOT NULL,
	"agent" text NOT NULL,
	"status" text NOT NULL,
	"thread_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"judge_thread_id" text COLLATE "C",
	"judge_run_id" text COLLATE "C",
	"answer_key" text,
	"answer" text,
	"ended_by" text,
	"diverged" text,
	"error" text,
	"tags" text[] NOT NULL,
	"scores" jsonb NOT NULL,
	CONSTRAINT "_eval_item_eval_id_no_pk" PRIMARY KEY("eval_id","no")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_eval_thread" (
	"no" integer NOT NULL,
	"erase_at" timestamptz,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"eval_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "_eval_thread_tenant_id_thread_id_pk" PRIMARY KEY("tenant_id","thread_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_eval" (
	"created_at" timestamptz NOT NULL,
	"finished_at" timestamptz,
	"max_cost_micros" bigint,
	"concurrency" integer NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"dataset" text COLLATE "C" NOT NULL,
	"queue_prefix" text,
	"status" text NOT NULL,
	"spec" jsonb NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "_eval_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_event_batch" (
	"event_seq" bigint NOT NULL,
	"at" timestamptz NOT NULL,
	"entry_seq" bigint NOT NULL,
	"seq" integer NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"events" text NOT NULL,
	CONSTRAINT "_event_batch_thread_id_event_seq_pk" PRIMARY KEY("thread_id","event_seq")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_kept_event" (
	"sent_at" timestamptz NOT NULL,
	"keep_until" timestamptz NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"event" text COLLATE "C" NOT NULL,
	"content" text NOT NULL,
	"sent_by" text,
	CONSTRAINT "_kept_event_tenant_id_event_pk" PRIMARY KEY("tenant_id","event")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_lane" (
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"context_ref" text COLLATE "C" NOT NULL,
	"parent_ref" text COLLATE "C",
	"root_ref" text COLLATE "C",
	"branch_seq" bigint,
	"after_seq" bigint,
	"parent_seq" bigint,
	CONSTRAINT "_lane_thread_id_context_ref_pk" PRIMARY KEY("thread_id","context_ref")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_limit" (
	"version" bigint NOT NULL,
	"amount" bigint NOT NULL,
	"per_ms" bigint,
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"removed_at" timestamptz,
	"owner" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"scope" jsonb NOT NULL,
	"amounts" jsonb,
	"tokens" text,
	"calendar" text,
	"time_zone" text,
	"share_by" text COLLATE "C",
	"shares" jsonb,
	"reserve" jsonb,
	"on_exhausted" text DEFAULT 'wait' NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "_limit_owner_name_pk" PRIMARY KEY("owner","name")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_limit_account" (
	"touched_at" timestamptz NOT NULL,
	"since" timestamptz,
	"priority" integer DEFAULT 0 NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"holds" jsonb NOT NULL,
	"grants" jsonb,
	"wants" jsonb,
	"job" jsonb,
	CONSTRAINT "_limit_account_run_id_thread_id_pk" PRIMARY KEY("run_id","thread_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_limit_bucket" (
	"slice" bigint NOT NULL,
	"used" bigint NOT NULL,
	"reserved" bigint NOT NULL,
	"granted" bigint DEFAULT 0 NOT NULL,
	"total" bigint NOT NULL,
	"drained_until" timestamptz,
	"noticed_at" timestamptz,
	"touched_at" timestamptz NOT NULL,
	"turn" double precision DEFAULT 0 NOT NULL,
	"lined" integer DEFAULT 0 NOT NULL,
	"waiting" integer DEFAULT 0 NOT NULL,
	"idle" boolean GENERATED ALWAYS AS (waiting = 0) STORED,
	"owner" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"ring" bigint[] NOT NULL,
	CONSTRAINT "_limit_bucket_owner_name_key_pk" PRIMARY KEY("owner","name","key")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_limit_share" (
	"turn" double precision NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"share" text COLLATE "C" NOT NULL,
	CONSTRAINT "_limit_share_owner_name_key_share_pk" PRIMARY KEY("owner","name","key","share")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_limit_wait" (
	"since" timestamptz NOT NULL,
	"amount" bigint NOT NULL,
	"priority" integer NOT NULL,
	"refused" boolean NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"lane" text COLLATE "C" NOT NULL,
	"share" text COLLATE "C" NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "_limit_wait_run_id_thread_id_owner_name_key_pk" PRIMARY KEY("run_id","thread_id","owner","name","key")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_monitor" (
	"read_to" timestamptz NOT NULL,
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"taken_at" timestamptz,
	"held_until" timestamptz,
	"low_since" timestamptz,
	"scored" bigint DEFAULT 0 NOT NULL,
	"turned_at" bigint DEFAULT 0 NOT NULL,
	"sample" double precision NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"queue_prefix" text,
	"read_thread_id" text COLLATE "C" DEFAULT '' NOT NULL,
	"read_run_id" text COLLATE "C" DEFAULT '' NOT NULL,
	"agents" text[] NOT NULL,
	"scorers" text[] NOT NULL,
	"rubric" text,
	"judge" jsonb,
	"alert" jsonb,
	"updated_by" text NOT NULL,
	CONSTRAINT "_monitor_tenant_id_name_pk" PRIMARY KEY("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."pending_input" (
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"ordinal" integer NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"by" text NOT NULL,
	"content" text NOT NULL,
	"parts" jsonb,
	"refs" jsonb,
	"status" text NOT NULL,
	"entry_seq" bigint,
	"created_at" timestamptz NOT NULL,
	"settled_at" timestamptz,
	CONSTRAINT "pending_input_thread_id_run_id_ordinal_pk" PRIMARY KEY("thread_id","run_id","ordinal")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_role" (
	"name" text COLLATE "C" NOT NULL,
	"duty" text NOT NULL,
	"tenant" text COLLATE "C",
	CONSTRAINT "_role_name_pk" PRIMARY KEY("name")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_rollout" (
	"updated_at" timestamptz NOT NULL,
	"agent" text NOT NULL,
	"shares" jsonb NOT NULL,
	"key" text,
	"updated_by" text NOT NULL,
	CONSTRAINT "_rollout_agent_pk" PRIMARY KEY("agent")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_run" (
	"lease" bigint DEFAULT 0 NOT NULL,
	"lease_until" timestamptz,
	"created_at" timestamptz NOT NULL,
	"started_at" timestamptz,
	"finished_at" timestamptz,
	"enqueued_at" timestamptz,
	"ready_at" timestamptz,
	"lost_at" timestamptz,
	"sealed_at" timestamptz,
	"cancel_requested_at" timestamptz,
	"suspended_until" timestamptz,
	"agent_unknown_since" timestamptz,
	"start_at" timestamptz,
	"expires_at" timestamptz,
	"trace_dropped_at" timestamptz,
	"user_seq" bigint,
	"result_seq" bigint,
	"first_event_seq" bigint,
	"last_event_seq" bigint,
	"lease_ms" integer,
	"enqueue_no" integer DEFAULT 0 NOT NULL,
	"step" integer DEFAULT 0 NOT NULL,
	"iteration" integer DEFAULT 0 NOT NULL,
	"event_count" integer DEFAULT 0 NOT NULL,
	"queued_inputs" integer DEFAULT 0 NOT NULL,
	"claims_without_progress" smallint DEFAULT 0 NOT NULL,
	"claims_alone" smallint DEFAULT 0 NOT NULL,
	"queue_shard" smallint DEFAULT 0 NOT NULL,
	"trace_truncated" boolean DEFAULT false NOT NULL,
	"notable" boolean DEFAULT false NOT NULL,
	"answered" boolean,
	"active" boolean NOT NULL,
	"interrupts" boolean DEFAULT false NOT NULL,
	"status" text NOT NULL,
	"queue_prefix" text DEFAULT 'lf' NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"caller" text COLLATE "C",
	"request_id" text COLLATE "C",
	"request_hash" "bytea" NOT NULL,
	"agent" text NOT NULL,
	"agent_version" text COLLATE "C",
	"unknown_strategy" text,
	"unknown_version" text,
	"unknown_tools" text[],
	"strategy" text NOT NULL,
	"model" text NOT NULL,
	"context_ref" text COLLATE "C" NOT NULL,
	"termination_reason" text,
	"finish_reason" text,
	"worker_id" text COLLATE "C",
	"input" jsonb,
	"options" jsonb,
	"usage" jsonb,
	"other_usage" jsonb,
	"result" jsonb,
	"error" jsonb,
	"state" jsonb,
	"last_commit" jsonb,
	"cancel_reason" text,
	"limited_by" jsonb,
	"traceparent" text,
	CONSTRAINT "_run_thread_id_id_pk" PRIMARY KEY("thread_id","id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_run_mark" (
	"created_at" timestamptz NOT NULL,
	"seq" bigint,
	"count" integer NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"agent" text NOT NULL,
	"agent_version" text COLLATE "C",
	"llm_call_id" text,
	CONSTRAINT "_run_mark_thread_id_run_id_kind_pk" PRIMARY KEY("thread_id","run_id","kind")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_run_node" (
	"score" double precision,
	"node" integer NOT NULL,
	"parent" integer,
	"depth" integer,
	"call_no" integer,
	"elapsed_ms" bigint,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"content" text,
	"usage" jsonb,
	"data" jsonb,
	CONSTRAINT "_run_node_thread_id_run_id_node_pk" PRIMARY KEY("thread_id","run_id","node")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_run_score" (
	"ended_at" timestamptz NOT NULL,
	"scored_at" timestamptz NOT NULL,
	"score" double precision,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"monitor" text COLLATE "C" NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"agent" text NOT NULL,
	"agent_version" text,
	"status" text NOT NULL,
	"judge_thread_id" text COLLATE "C",
	"judge_run_id" text COLLATE "C",
	"scores" jsonb NOT NULL,
	CONSTRAINT "_run_score_tenant_id_monitor_thread_id_run_id_pk" PRIMARY KEY("tenant_id","monitor","thread_id","run_id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_schedule" (
	"version" bigint NOT NULL,
	"next_at" timestamptz,
	"paused_at" timestamptz,
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"agent" text NOT NULL,
	"overlap" text NOT NULL,
	"thread_id" text COLLATE "C",
	"timing" jsonb NOT NULL,
	"definition" jsonb NOT NULL,
	"source" text NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "_schedule_tenant_id_name_pk" PRIMARY KEY("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_schedule_slot" (
	"slot" timestamptz NOT NULL,
	"due_at" timestamptz NOT NULL,
	"taken_at" timestamptz,
	"settled_at" timestamptz,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"late" boolean DEFAULT false NOT NULL,
	"waits" boolean DEFAULT false NOT NULL,
	"request" jsonb,
	"status" text NOT NULL,
	"thread_id" text COLLATE "C",
	"run_id" text COLLATE "C",
	"error" jsonb,
	CONSTRAINT "_schedule_slot_tenant_id_name_slot_pk" PRIMARY KEY("tenant_id","name","slot")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_secret" (
	"name" text COLLATE "C" NOT NULL,
	"value" "bytea" NOT NULL,
	CONSTRAINT "_secret_name_pk" PRIMARY KEY("name")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_stream" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "lanefold"."_stream_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tail" bigint NOT NULL,
	"fork_at" bigint DEFAULT 0 NOT NULL,
	"source_id" bigint,
	"ttl_s" bigint,
	"created_at" timestamptz NOT NULL,
	"expires_at" timestamptz,
	"ends_at" timestamptz,
	"closed_at" timestamptz,
	"deleted_at" timestamptz,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"thread_id" text COLLATE "C",
	"path" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"content_type" text NOT NULL,
	"media_type" text NOT NULL,
	"of_trace" boolean DEFAULT false NOT NULL,
	"source_run_id" text COLLATE "C",
	"asked" jsonb NOT NULL,
	"last_seq" text COLLATE "C",
	"closed_by" jsonb
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_stream_chunk" (
	"stream_id" bigint NOT NULL,
	"pos" bigint NOT NULL,
	"size" bigint NOT NULL,
	"last" boolean NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "_stream_chunk_stream_id_pos_pk" PRIMARY KEY("stream_id","pos")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_stream_producer" (
	"stream_id" bigint NOT NULL,
	"epoch" bigint NOT NULL,
	"seq" bigint NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"producer" text COLLATE "C" NOT NULL,
	CONSTRAINT "_stream_producer_stream_id_producer_pk" PRIMARY KEY("stream_id","producer")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_tenant" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"limits" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"chained" boolean DEFAULT false NOT NULL,
	"updated_at" timestamptz NOT NULL,
	CONSTRAINT "_tenant_tenant_id_pk" PRIMARY KEY("tenant_id")
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
	"pending_branch" text COLLATE "C",
	"pending_config" jsonb,
	"configured" boolean DEFAULT false NOT NULL,
	"altered" boolean DEFAULT false NOT NULL,
	"chained" boolean DEFAULT false NOT NULL,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"state" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"parent_thread_id" text COLLATE "C",
	"fork_seq" bigint,
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"erased_at" timestamptz,
	"versions" jsonb
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
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"tool_call_id" text NOT NULL,
	"name" text NOT NULL,
	"outcome" jsonb,
	"approval" jsonb,
	CONSTRAINT "_tool_call_thread_id_run_id_round_call_index_pk" PRIMARY KEY("thread_id","run_id","round","call_index")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_wait" (
	"created_at" timestamptz NOT NULL,
	"until" timestamptz,
	"ended_at" timestamptz,
	"child_ended_at" timestamptz,
	"child_cost" double precision,
	"round" integer NOT NULL,
	"call_index" smallint NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"event" text COLLATE "C",
	"child_thread_id" text COLLATE "C",
	"child_run_id" text COLLATE "C",
	"ended_by" text,
	"task" text,
	"request" jsonb,
	CONSTRAINT "_wait_thread_id_run_id_round_call_index_kind_pk" PRIMARY KEY("thread_id","run_id","round","call_index","kind")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_webhook" (
	"version" bigint NOT NULL,
	"created_at" timestamptz NOT NULL,
	"updated_at" timestamptz NOT NULL,
	"paused_at" timestamptz,
	"failing_since" timestamptz,
	"removed_at" timestamptz,
	"failures" integer DEFAULT 0 NOT NULL,
	"dropped" integer DEFAULT 0 NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"url" text NOT NULL,
	"types" text[] NOT NULL,
	"agents" text[] NOT NULL,
	"ordered" boolean NOT NULL,
	"include_result" boolean NOT NULL,
	"template" jsonb,
	"secrets" jsonb NOT NULL,
	"paused_reason" text,
	"updated_by" text NOT NULL,
	CONSTRAINT "_webhook_tenant_id_id_pk" PRIMARY KEY("tenant_id","id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_webhook_delivery" (
	"no" bigint NOT NULL,
	"created_at" timestamptz NOT NULL,
	"next_at" timestamptz,
	"attempted_at" timestamptz,
	"settled_at" timestamptz,
	"attempts" integer DEFAULT 0 NOT NULL,
	"earlier" integer DEFAULT 0 NOT NULL,
	"duration_ms" integer,
	"status_code" integer,
	"in_flight" boolean DEFAULT false NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"webhook_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"payload" jsonb NOT NULL,
	"status" text NOT NULL,
	"error" jsonb,
	"answer" text,
	CONSTRAINT "_webhook_delivery_thread_id_id_pk" PRIMARY KEY("thread_id","id")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_webhook_event" (
	"created_at" timestamptz NOT NULL,
	"tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"webhook_ids" text[] NOT NULL,
	"result_ids" text[] NOT NULL,
	"payload" jsonb NOT NULL,
	CONSTRAINT "_webhook_event_thread_id_type_key_pk" PRIMARY KEY("thread_id","type","key")
);
--> statement-breakpoint
CREATE TABLE "lanefold"."_worker" (
	"started_at" timestamptz NOT NULL,
	"heartbeat_at" timestamptz NOT NULL,
	"stopped_at" timestamptz,
	"dead_after_ms" integer NOT NULL,
	"pid" integer NOT NULL,
	"concurrency" integer NOT NULL,
	"runs_held" integer NOT NULL,
	"draining" boolean NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"host" text NOT NULL,
	"version" text NOT NULL,
	"queue_prefix" text NOT NULL,
	"agents" text[] NOT NULL,
	"strategies" text[] NOT NULL,
	"versions" text[] NOT NULL,
	"tools" text[] DEFAULT '{}' NOT NULL,
	"silences" "tstzmultirange" DEFAULT '{}' NOT NULL,
	"busy" "tstzmultirange" DEFAULT '{}' NOT NULL,
	"frozen" "tstzmultirange" DEFAULT '{}' NOT NULL,
	CONSTRAINT "_worker_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
CREATE INDEX "_alarm_count_old" ON "lanefold"."_alarm_count" USING btree ("at");--> statement-breakpoint
CREATE INDEX "_append_receipt_seq" ON "lanefold"."_append_receipt" USING btree ("thread_id","first_seq");--> statement-breakpoint
CREATE INDEX "_audit_thread" ON "lanefold"."_audit" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "_audit_tenant" ON "lanefold"."_audit" USING btree ("tenant_id","no");--> statement-breakpoint
CREATE INDEX "_child_run_root" ON "lanefold"."_child_run" USING btree ("root_run_id","root_thread_id");--> statement-breakpoint
CREATE INDEX "_child_run_untold" ON "lanefold"."_child_run" USING btree ("ended_at") WHERE ended_at is not null and told_at is null;--> statement-breakpoint
CREATE INDEX "_circuit_open" ON "lanefold"."_circuit" USING btree ("state") WHERE state <> 'closed';--> statement-breakpoint
CREATE INDEX "content_home" ON "lanefold"."content" USING btree ("home_thread_id") WHERE home_thread_id is not null;--> statement-breakpoint
CREATE INDEX "_entry_lane" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind = 'ai_message';--> statement-breakpoint
CREATE INDEX "_entry_control" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind in ('ai_context_operation', 'ai_config_change');--> statement-breakpoint
CREATE INDEX "_entry_prompt" ON "lanefold"."_entry" USING btree ("thread_id","context_ref","seq") WHERE kind = 'ai_config_change' and payload ->> 'field' = 'system_prompt' or is_anchor and payload -> 'operation' -> 'result_context' ? 'system_prompt';--> statement-breakpoint
CREATE INDEX "_entry_state" ON "lanefold"."_entry" USING btree ("thread_id","seq") WHERE kind = 'ai_state_change';--> statement-breakpoint
CREATE INDEX "_entry_feedback" ON "lanefold"."_entry" USING btree ("thread_id","seq") WHERE kind = 'feedback';--> statement-breakpoint
CREATE INDEX "_entry_feedback_at" ON "lanefold"."_entry" USING btree ("at","thread_id","seq") WHERE kind = 'feedback';--> statement-breakpoint
CREATE INDEX "_entry_words" ON "lanefold"."_entry" USING gin (to_tsvector('simple', left(payload ->> 'content', 2000))) WITH (fastupdate=true,gin_pending_list_limit=512) WHERE kind = 'ai_message' and role = 'user';--> statement-breakpoint
CREATE UNIQUE INDEX "_case_source" ON "lanefold"."_case" USING btree ("tenant_id","dataset","thread_id","llm_call_id","kind");--> statement-breakpoint
CREATE INDEX "_case_thread" ON "lanefold"."_case" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "_case_created" ON "lanefold"."_case" USING btree ("tenant_id","dataset","created_at","id");--> statement-breakpoint
CREATE INDEX "_eval_item_open" ON "lanefold"."_eval_item" USING btree ("eval_id","no") WHERE status in ('waiting', 'running', 'scoring');--> statement-breakpoint
CREATE INDEX "_eval_item_answer" ON "lanefold"."_eval_item" USING btree ("tenant_id","answer_key") WHERE answer_key is not null;--> statement-breakpoint
CREATE INDEX "_eval_item_source" ON "lanefold"."_eval_item" USING btree ("source_thread_id");--> statement-breakpoint
CREATE INDEX "_eval_thread_item" ON "lanefold"."_eval_thread" USING btree ("eval_id","no");--> statement-breakpoint
CREATE INDEX "_eval_thread_erase" ON "lanefold"."_eval_thread" USING btree ("erase_at") WHERE erase_at is not null;--> statement-breakpoint
CREATE INDEX "_eval_created" ON "lanefold"."_eval" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "_eval_running" ON "lanefold"."_eval" USING btree ("created_at") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "_kept_event_until" ON "lanefold"."_kept_event" USING btree ("keep_until");--> statement-breakpoint
CREATE INDEX "_limit_version" ON "lanefold"."_limit" USING btree ("version");--> statement-breakpoint
CREATE INDEX "_limit_bucket_listed" ON "lanefold"."_limit_bucket" USING btree ("owner","name","idle","key");--> statement-breakpoint
CREATE INDEX "_limit_wait_lane" ON "lanefold"."_limit_wait" USING btree ("owner","name","key","lane","priority","since","thread_id","run_id");--> statement-breakpoint
CREATE UNIQUE INDEX "pending_input_id" ON "lanefold"."pending_input" USING btree ("thread_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "_run_request" ON "lanefold"."_run" USING btree ("thread_id","request_id") WHERE request_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "_run_active" ON "lanefold"."_run" USING btree ("thread_id") WHERE active;--> statement-breakpoint
CREATE INDEX "_run_due" ON "lanefold"."_run" USING btree ("enqueued_at") WHERE active and suspended_until is null;--> statement-breakpoint
CREATE INDEX "_run_suspended" ON "lanefold"."_run" USING btree ("suspended_until") WHERE suspended_until is not null;--> statement-breakpoint
CREATE INDEX "_run_expiring" ON "lanefold"."_run" USING btree ("expires_at") WHERE expires_at is not null and finished_at is null;--> statement-breakpoint
CREATE INDEX "_run_created" ON "lanefold"."_run" USING btree ("created_at","thread_id","id");--> statement-breakpoint
CREATE INDEX "_run_agent" ON "lanefold"."_run" USING btree ("agent","created_at","thread_id","id");--> statement-breakpoint
CREATE INDEX "_run_failed" ON "lanefold"."_run" USING btree ("created_at","thread_id","id") WHERE error is not null and termination_reason <> 'cancelled';--> statement-breakpoint
CREATE INDEX "_run_of_caller" ON "lanefold"."_run" USING btree ("caller") WHERE finished_at is null and caller is not null;--> statement-breakpoint
CREATE INDEX "_run_of_tenant" ON "lanefold"."_run" USING btree ("tenant_id") WHERE finished_at is null and tenant_id <> 'default';--> statement-breakpoint
CREATE INDEX "_run_delayed" ON "lanefold"."_run" USING btree ("queue_prefix") WHERE limited_by is not null;--> statement-breakpoint
CREATE INDEX "_run_waiting" ON "lanefold"."_run" USING btree ("thread_id","created_at") WHERE not active and finished_at is null;--> statement-breakpoint
CREATE INDEX "_run_trace" ON "lanefold"."_run" USING btree ("finished_at") WHERE finished_at is not null and trace_dropped_at is null;--> statement-breakpoint
CREATE INDEX "_run_mark_found" ON "lanefold"."_run_mark" USING btree ("kind","created_at","thread_id","run_id");--> statement-breakpoint
CREATE INDEX "_run_score_time" ON "lanefold"."_run_score" USING btree ("tenant_id","monitor","scored_at","thread_id","run_id");--> statement-breakpoint
CREATE INDEX "_run_score_thread" ON "lanefold"."_run_score" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "_run_score_old" ON "lanefold"."_run_score" USING btree ("scored_at") WHERE status = 'done';--> statement-breakpoint
CREATE INDEX "_run_score_waiting" ON "lanefold"."_run_score" USING btree ("tenant_id","monitor") WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX "_schedule_next" ON "lanefold"."_schedule" USING btree ("next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "_schedule_slot_open" ON "lanefold"."_schedule_slot" USING btree ("tenant_id","name","slot") WHERE status in ('due', 'firing');--> statement-breakpoint
CREATE INDEX "_schedule_slot_fired" ON "lanefold"."_schedule_slot" USING btree ("tenant_id","name","slot") WHERE status = 'fired';--> statement-breakpoint
CREATE INDEX "_schedule_slot_settled" ON "lanefold"."_schedule_slot" USING btree ("settled_at") WHERE settled_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "_stream_path" ON "lanefold"."_stream" USING btree ("path");--> statement-breakpoint
CREATE INDEX "_stream_source" ON "lanefold"."_stream" USING btree ("source_id") WHERE source_id is not null;--> statement-breakpoint
CREATE INDEX "_stream_thread" ON "lanefold"."_stream" USING btree ("thread_id") WHERE thread_id is not null;--> statement-breakpoint
CREATE INDEX "_stream_expiry" ON "lanefold"."_stream" USING btree ("expires_at") WHERE expires_at is not null;--> statement-breakpoint
CREATE INDEX "thread_created" ON "lanefold"."thread" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "thread_tenant" ON "lanefold"."thread" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "thread_metadata" ON "lanefold"."thread" USING gin (metadata jsonb_path_ops);--> statement-breakpoint
CREATE INDEX "_wait_event" ON "lanefold"."_wait" USING btree ("event","tenant_id") WHERE status = 'open' and event is not null;--> statement-breakpoint
CREATE INDEX "_wait_approval" ON "lanefold"."_wait" USING btree ("until","thread_id","run_id","round","call_index") WHERE status = 'open' and kind = 'approval';--> statement-breakpoint
CREATE INDEX "_wait_open" ON "lanefold"."_wait" USING btree ("created_at","thread_id","run_id","round","call_index") WHERE status = 'open';--> statement-breakpoint
CREATE INDEX "_wait_child" ON "lanefold"."_wait" USING btree ("thread_id","child_run_id") WHERE child_run_id is not null;--> statement-breakpoint
CREATE INDEX "_wait_task" ON "lanefold"."_wait" USING btree ("created_at") WHERE task is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "_webhook_name" ON "lanefold"."_webhook" USING btree ("tenant_id","name") WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX "_webhook_delivery_order" ON "lanefold"."_webhook_delivery" USING btree ("thread_id","webhook_id","no") WHERE settled_at is null;--> statement-breakpoint
CREATE INDEX "_webhook_delivery_due" ON "lanefold"."_webhook_delivery" USING btree ("webhook_id","next_at") WHERE next_at is not null;--> statement-breakpoint
CREATE INDEX "_webhook_delivery_flight" ON "lanefold"."_webhook_delivery" USING btree ("webhook_id") WHERE in_flight;--> statement-breakpoint
CREATE INDEX "_webhook_delivery_waiting" ON "lanefold"."_webhook_delivery" USING btree ("webhook_id","created_at") WHERE settled_at is null;--> statement-breakpoint
CREATE INDEX "_webhook_delivery_log" ON "lanefold"."_webhook_delivery" USING btree ("webhook_id","created_at");--> statement-breakpoint
CREATE INDEX "_webhook_delivery_settled" ON "lanefold"."_webhook_delivery" USING btree ("settled_at") WHERE settled_at is not null;--> statement-breakpoint
CREATE INDEX "_webhook_event_age" ON "lanefold"."_webhook_event" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "_worker_running" ON "lanefold"."_worker" USING btree ("queue_prefix") WHERE "lanefold"."_worker"."stopped_at" is null;--> statement-breakpoint
-- Room on the page for the next version of a row: a step updates its thread and stays off the indexes, and so does a
-- heartbeat. A run's page is left full: dead versions are cleared away only on a full page, and a page given up before
-- that never takes a row again until the next vacuum (500 runs of one thread take 0.4 MB so, and 1.0 MB with room left).
-- Values are checked where they enter, in the functions: a CHECK is parsed and run at every update of a hot row.
ALTER TABLE lanefold.thread SET (fillfactor = 70);--> statement-breakpoint
ALTER TABLE lanefold._tool_call SET (fillfactor = 90);--> statement-breakpoint
ALTER TABLE lanefold._worker SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE lanefold._limit_bucket SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE lanefold._circuit SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE lanefold._limit_account SET (fillfactor = 70);--> statement-breakpoint
-- What a call of use_limits works on: the buckets by place, with their limits; the account of its run; what it answers; and where
-- waiting runs are to be looked for, {place: ms}. Lists, because every access to a row of one costs.
CREATE TYPE lanefold._limit_work AS (places text[], limits lanefold._limit[], buckets lanefold._limit_bucket[], account lanefold._limit_account, answer jsonb, look jsonb);--> statement-breakpoint
-- What is appended never changes, so it may be frozen at once: by the vacuum that follows so many inserts anyway, when
-- the pages are still in memory, and not years later by one that reads and rewrites the whole log to keep the
-- transaction ids from wrapping around.
ALTER TABLE lanefold._entry SET (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE lanefold._event_batch SET (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_scale_factor = 0.02);--> statement-breakpoint
-- 244 random bits, which no other installation has. Ids that requests were given derive from them: they never change.
INSERT INTO lanefold._secret (name, value) VALUES ('names', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));--> statement-breakpoint
-- A process locks this row while it counts runs.
INSERT INTO lanefold._activity_state (id) VALUES (1);
