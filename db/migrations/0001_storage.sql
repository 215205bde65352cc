-- Room on the page for the next version of a row: a step updates its thread and stays off the indexes. A run's page is
-- left full: dead versions are cleared away only on a full page, and a page given up before that never takes a row again
-- until the next vacuum (500 runs of one thread take 0.4 MB so, and 1.0 MB with room left).
-- Values are checked where they enter, in the functions: a CHECK is parsed and run at every update of a hot row.
ALTER TABLE lanefold.thread SET (fillfactor = 70);
--> statement-breakpoint
ALTER TABLE lanefold._tool_call SET (fillfactor = 90);
