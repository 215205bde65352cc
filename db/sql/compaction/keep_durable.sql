-- The entries of a compaction, preceded by the durable messages it left out. A call that the compaction kept stays in
-- place, and its result is replaced by the durable one. Ids may repeat in a lane, so a call is identified by its id
-- and its tool.
create or replace function lanefold._keep_durable(p_entries jsonb, p_durable jsonb)
returns jsonb language sql immutable as $$
  with given as (
    select m, n, array[m ->> 'tool_call_id', m ->> 'name'] as answers
    from jsonb_array_elements(p_entries) with ordinality as x (m, n)
  ), durable as (
    select m, n, array[m ->> 'tool_call_id', m ->> 'name'] as answers, m ->> 'role' = 'tool' as result
    from jsonb_array_elements(p_durable) with ordinality as x (m, n)
  ), missing as (
    select n, case when result then m else jsonb_set(m, '{tool_calls}', (
      select coalesce(to_jsonb(array_agg(c order by i)), '[]') from jsonb_array_elements(m -> 'tool_calls') with ordinality as y (c, i)
      where array[c ->> 'id', c ->> 'name'] not in (select g.answers from given g where g.m ->> 'role' = 'tool'))) end as m
    from durable where not result or answers not in (select g.answers from given g where g.m ->> 'role' = 'tool')
  )
  select coalesce(to_jsonb(array_agg(m order by part, n)), '[]') from (
    select 0 as part, n, m from missing where m ->> 'role' = 'tool' or m -> 'tool_calls' <> '[]'
    union all
    select 1, g.n, coalesce((
      select d.m from durable d where d.result and g.m ->> 'role' = 'tool' and d.answers = g.answers order by d.n desc limit 1), g.m)
    from given g
  ) x;
$$;
