create or replace view lanefold.lane_context as
select c.*
from lanefold._lane l
cross join lateral lanefold.lane_context_at(l.thread_id, l.context_ref, 9223372036854775807) c;
