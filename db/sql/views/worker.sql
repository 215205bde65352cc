-- The workers, and whether they are alive by the database clock. The view repeats the expression of `_now` instead of
-- calling it, because its readers need no right on functions. A heartbeat in the future was written before the clock
-- went back.
create or replace view lanefold.worker as
select w.id, w.host, w.pid, w.version, w.queue_prefix as queue, w.agents, w.strategies, w.versions, w.concurrency, w.runs_held, w.draining,
       w.started_at, w.heartbeat_at, w.stopped_at, w.dead_after_ms,
       w.stopped_at is null and abs(extract(epoch from
         clock_timestamp() + coalesce(nullif(current_setting('lanefold.clock_offset', true), ''), '0')::interval - w.heartbeat_at
       )) * 1000 < w.dead_after_ms as alive,
       w.tools
from lanefold._worker w;
