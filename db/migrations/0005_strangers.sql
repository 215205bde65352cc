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
CREATE TABLE "lanefold"."_role" (
	"name" text COLLATE "C" NOT NULL,
	"duty" text NOT NULL,
	"tenant" text COLLATE "C",
	CONSTRAINT "_role_name_pk" PRIMARY KEY("name")
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
CREATE TABLE "lanefold"."_tenant" (
	"tenant_id" text COLLATE "C" NOT NULL,
	"limits" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"chained" boolean DEFAULT false NOT NULL,
	"updated_at" timestamptz NOT NULL,
	CONSTRAINT "_tenant_tenant_id_pk" PRIMARY KEY("tenant_id")
);
--> statement-breakpoint
ALTER TABLE "lanefold"."_append_receipt" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."context_op" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_entry" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_entry" ADD COLUMN "bytes" integer;--> statement-breakpoint
ALTER TABLE "lanefold"."_entry" ADD COLUMN "hash" "bytea";--> statement-breakpoint
ALTER TABLE "lanefold"."_event_batch" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_lane" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."pending_input" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."pending_input" ADD COLUMN "parts" jsonb;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "start_at" timestamptz;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "expires_at" timestamptz;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "caller" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "unknown_strategy" text;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "traceparent" text;--> statement-breakpoint
ALTER TABLE "lanefold"."thread" ADD COLUMN "chained" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_tool_call" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
CREATE INDEX "_audit_thread" ON "lanefold"."_audit" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "_audit_tenant" ON "lanefold"."_audit" USING btree ("tenant_id","no");--> statement-breakpoint
CREATE INDEX "content_home" ON "lanefold"."content" USING btree ("home_thread_id") WHERE home_thread_id is not null;--> statement-breakpoint
CREATE INDEX "_entry_words" ON "lanefold"."_entry" USING gin (to_tsvector('simple', left(payload ->> 'content', 2000))) WITH (fastupdate=true,gin_pending_list_limit=512) WHERE kind = 'ai_message' and role = 'user';--> statement-breakpoint
CREATE INDEX "_run_expiring" ON "lanefold"."_run" USING btree ("expires_at") WHERE expires_at is not null and finished_at is null;--> statement-breakpoint
CREATE INDEX "_run_created" ON "lanefold"."_run" USING btree ("created_at","thread_id","id");--> statement-breakpoint
CREATE INDEX "_run_failed" ON "lanefold"."_run" USING btree ("created_at","thread_id","id") WHERE error is not null and termination_reason <> 'cancelled';--> statement-breakpoint
CREATE INDEX "_run_of_caller" ON "lanefold"."_run" USING btree ("caller") WHERE finished_at is null and caller is not null;--> statement-breakpoint
CREATE INDEX "_run_of_tenant" ON "lanefold"."_run" USING btree ("tenant_id") WHERE finished_at is null and tenant_id <> 'default';--> statement-breakpoint
CREATE INDEX "thread_created" ON "lanefold"."thread" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "thread_tenant" ON "lanefold"."thread" USING btree ("tenant_id","created_at","id");--> statement-breakpoint
CREATE INDEX "thread_metadata" ON "lanefold"."thread" USING gin (metadata jsonb_path_ops);--> statement-breakpoint
-- Roles that could read the whole log, or write it, keep what they could do, for all tenants: see grant_role. Rights on single
-- tables and views stay as they are, and show the rows of no tenant.
INSERT INTO lanefold._role (name, duty, tenant)
SELECT r.rolname, CASE WHEN w.writes THEN 'worker' ELSE 'reader' END, '*'
FROM pg_roles r
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE a.privilege_type = 'INSERT' AND c.relname IN ('_entry', '_run', '_event_batch')) = 3 AS writes,
         count(*) FILTER (WHERE a.privilege_type = 'SELECT' AND c.relname IN ('thread_entry', 'lane_context')) = 2 AS reads
  FROM pg_class c
  CROSS JOIN LATERAL aclexplode(c.relacl) a
  WHERE c.relnamespace = 'lanefold'::regnamespace AND a.grantee = r.oid AND a.grantee <> c.relowner
) w
WHERE w.writes OR w.reads;
--> statement-breakpoint
-- It takes the request now.
DROP FUNCTION IF EXISTS lanefold._add_job(text, text, int, text, text);
