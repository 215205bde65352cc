-- The trace, one row per event. Unpacks values stored once per batch or per run: `k` is the kind, `i` the iteration,
-- `d` the data, `c` the number of a model call, `e` the offset of an entry, `m` a number of messages, `r` the reason
-- of a checkpoint.
create or replace view lanefold.run_event as
select b.thread_id, b.event_seq + x.n - 1 as event_seq, b.run_id, (b.seq + x.n - 1)::int as seq, x.e ->> 'k' as kind,
       (x.e -> 'i')::int as iteration,
       coalesce(x.e -> 'd', '{}')
         || case when x.e ? 'e' then jsonb_build_object('seq', b.entry_seq + (x.e -> 'e')::bigint) else '{}' end
         || case when x.e ? 'c' then jsonb_build_object('call_id', b.run_id || '.' || (x.e ->> 'c')) else '{}' end
         || case when x.e ? 'm' then jsonb_build_object('message_count', (x.e -> 'm')::int) else '{}' end
         || case when x.e ? 'r' then jsonb_build_object('reason', x.e -> 'r') else '{}' end
         || case x.e ->> 'k'
              when 'llm_started' then jsonb_build_object('model', b.model)
              when 'llm_completed' then case when x.e -> 'd' ? 'model' then '{}' else jsonb_build_object('model', b.model) end
              when 'request_completed' then jsonb_strip_nulls(jsonb_build_object('usage', b.usage))
              when 'request_failed' then jsonb_strip_nulls(jsonb_build_object('usage', b.usage))
              when 'request_cancelled' then jsonb_strip_nulls(jsonb_build_object('usage', b.usage))
              else '{}' end as data,
       b.at, b.event_seq as batch_seq, b.tenant_id
from lanefold._run_batch b
cross join lateral jsonb_array_elements(b.events) with ordinality as x (e, n);
