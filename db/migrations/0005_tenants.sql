CREATE TABLE "lanefold"."_role" (
	"name" text COLLATE "C" NOT NULL,
	"duty" text NOT NULL,
	"tenant" text COLLATE "C",
	CONSTRAINT "_role_name_pk" PRIMARY KEY("name")
);
--> statement-breakpoint
ALTER TABLE "lanefold"."_append_receipt" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."context_op" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_entry" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_event_batch" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_lane" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."pending_input" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_run" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE "lanefold"."_tool_call" ADD COLUMN "tenant_id" text COLLATE "C" DEFAULT 'default' NOT NULL;--> statement-breakpoint
-- Roles that were granted rights on tables and views before keep what they could do, for all tenants: see grant_role.
INSERT INTO lanefold._role (name, duty, tenant)
SELECT r.rolname, CASE WHEN bool_or(a.privilege_type IN ('INSERT', 'UPDATE')) THEN 'worker' ELSE 'reader' END, '*'
FROM pg_class c
CROSS JOIN LATERAL aclexplode(c.relacl) a
JOIN pg_roles r ON r.oid = a.grantee
WHERE c.relnamespace = 'lanefold'::regnamespace AND a.grantee <> c.relowner
GROUP BY r.rolname;
