CREATE TABLE "lanefold"."_run_node" (
	"score" double precision,
	"node" integer NOT NULL,
	"parent" integer,
	"depth" integer,
	"call_no" integer,
	"elapsed_ms" bigint,
	"thread_id" text COLLATE "C" NOT NULL,
	"run_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"content" text,
	"usage" jsonb,
	"data" jsonb,
	CONSTRAINT "_run_node_thread_id_run_id_node_pk" PRIMARY KEY("thread_id","run_id","node")
);
