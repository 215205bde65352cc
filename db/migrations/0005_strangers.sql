CREATE TABLE "lanefold"."_api_key" (
	"id" text COLLATE "C" NOT NULL,
	"hash" "bytea" NOT NULL,
	"name" text NOT NULL,
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
CREATE INDEX "_audit_thread" ON "lanefold"."_audit" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "_audit_tenant" ON "lanefold"."_audit" USING btree ("tenant_id","no");