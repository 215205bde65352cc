-- Room on the page for the next version of a row: a step updates its thread and its run, and stays off the indexes.
-- Values are checked where they enter, in the functions: a CHECK is parsed and run at every update of a hot row.
ALTER TABLE lanefold.thread SET (fillfactor = 70);
--> statement-breakpoint
ALTER TABLE lanefold._run SET (fillfactor = 80);
--> statement-breakpoint
ALTER TABLE lanefold._tool_call SET (fillfactor = 90);
