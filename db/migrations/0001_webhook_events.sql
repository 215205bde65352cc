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
DROP INDEX "lanefold"."_webhook_delivery_order";--> statement-breakpoint
CREATE INDEX "_webhook_event_age" ON "lanefold"."_webhook_event" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "_webhook_delivery_order" ON "lanefold"."_webhook_delivery" USING btree ("thread_id","webhook_id","no") WHERE settled_at is null;--> statement-breakpoint
DROP FUNCTION IF EXISTS lanefold.queue_delivery(text, text, int, int);--> statement-breakpoint
DROP FUNCTION IF EXISTS lanefold.take_delivery(text, text, int, int, boolean);--> statement-breakpoint
DROP FUNCTION IF EXISTS lanefold.settle_delivery(text, text, int, jsonb);--> statement-breakpoint
DROP FUNCTION IF EXISTS lanefold.release_delivery(text, text, int);
