create or replace view lanefold.lane as
select l.thread_id, l.context_ref, h.anchor_seq, h.last_seq, h.open_calls
from lanefold._lane l
cross join lateral lanefold._lane_head(l.thread_id, l.context_ref) h;
