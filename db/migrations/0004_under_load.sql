-- The functions of version 3 keep their names, arguments and results: processes of both versions work on this schema.
ALTER TABLE "lanefold"."_run" ADD COLUMN "lease_ms" integer;
