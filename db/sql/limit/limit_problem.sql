-- The field for which a limit may not be set as p says, see set_limit, or null. The library refuses more (src/agent/limits);
-- this is what use_limits relies on. Amounts go up to 10^18, so that two of them fit a bigint.
create or replace function lanefold._limit_problem(p jsonb)
returns text language sql immutable parallel safe as $$
  select case
    when coalesce(p ->> 'kind', '') not in ('concurrency', 'runs', 'requests', 'tokens', 'money') then 'kind'
    when coalesce(jsonb_typeof(p -> 'scope'), '') <> 'object' then 'scope'
    when coalesce(p ->> 'amount', '') !~ '^(\d{1,18}|10{18})$' then 'amount'
    when coalesce(jsonb_typeof(p -> 'amounts'), 'null') not in ('object', 'null') then 'amounts'
    when exists (select from jsonb_each_text(case when jsonb_typeof(p -> 'amounts') = 'object' then p -> 'amounts' end) a
                 where coalesce(a.value, '') !~ '^(\d{1,18}|10{18})$') then 'amounts'
    when coalesce(jsonb_typeof(p -> 'reserve'), 'null') not in ('object', 'null') then 'reserve'
    when exists (select from jsonb_each_text(case when jsonb_typeof(p -> 'reserve') = 'object' then p -> 'reserve' end) a
                 where coalesce(a.value, '') !~ '^(\d{1,18}|10{18})$') then 'reserve'
    when p ->> 'per_ms' !~ '^[1-9]\d{3,9}$' then 'per_ms'
    when p ->> 'calendar' not in ('day', 'week', 'month') then 'calendar'
    -- either a sliding interval or a calendar, and neither for what has no interval
    when num_nulls(p ->> 'per_ms', p ->> 'calendar') <> case when p ->> 'kind' = 'concurrency' then 2 else 1 end then 'interval'
    when p ->> 'tokens' not in ('input', 'output', 'total') then 'tokens'
    when p ->> 'on_exhausted' not in ('wait', 'end', 'notice') then 'on_exhausted'
    when p ->> 'on_exhausted' = 'notice' and p ->> 'kind' in ('concurrency', 'runs') then 'on_exhausted'
    when coalesce(p ->> 'by', '') = '' then 'by'
  end;
$$;
