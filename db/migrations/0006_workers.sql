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
	CONSTRAINT "_worker_id_pk" PRIMARY KEY("id")
);
--> statement-breakpoint
-- Room in each page for the row that the next heartbeat writes.
ALTER TABLE lanefold._worker SET (fillfactor = 50);
