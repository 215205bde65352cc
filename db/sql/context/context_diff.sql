-- How the context of one lane differs from another, for any two threads, lanes and entries: a lane before and after a
-- compaction, or a thread and its fork. Rows are in order; `change` is same, removed (only in the first) or added
-- (only in the second). Only the common beginning and the common end count as same; everything between is removed and
-- added, so that the time is linear.
create or replace function lanefold.context_diff(
  p_thread_id text, p_context_ref text, p_upto bigint, p_other_thread_id text, p_other_context_ref text, p_other_upto bigint
) returns table (
  change text, ordinal bigint, seq bigint, other_ordinal bigint, other_seq bigint, role text, content jsonb, tool_calls jsonb,
  tool_call_id text, name text
) language plpgsql stable rows 100 as $$
declare
  a jsonb[];
  b jsonb[];
  a_seq bigint[];
  b_seq bigint[];
  v_head int := 0;  -- length of the common beginning
  v_tail int := 0;  -- length of the common end
begin
  select coalesce(array_agg(jsonb_build_array(c.role, c.content, c.tool_calls, c.tool_call_id, c.name, c.thinking, c.reasoning_details)
    order by c.ordinal), '{}'), array_agg(c.seq order by c.ordinal)
  into a, a_seq from lanefold.lane_context_at(p_thread_id, p_context_ref, p_upto) c;
  select coalesce(array_agg(jsonb_build_array(c.role, c.content, c.tool_calls, c.tool_call_id, c.name, c.thinking, c.reasoning_details)
    order by c.ordinal), '{}'), array_agg(c.seq order by c.ordinal)
  into b, b_seq from lanefold.lane_context_at(p_other_thread_id, p_other_context_ref, p_other_upto) c;
  while v_head < least(cardinality(a), cardinality(b)) and a[v_head + 1] = b[v_head + 1] loop
    v_head := v_head + 1;
  end loop;
  while v_tail < least(cardinality(a), cardinality(b)) - v_head and a[cardinality(a) - v_tail] = b[cardinality(b) - v_tail] loop
    v_tail := v_tail + 1;
  end loop;
  return query
  with line as (
    select 1 as part, 'same' as what, n::bigint as i, n::bigint as j from generate_series(1, v_head) n
    union all
    select 2, 'removed', n, null from generate_series(v_head + 1, cardinality(a) - v_tail) n
    union all
    select 3, 'added', null, n from generate_series(v_head + 1, cardinality(b) - v_tail) n
    union all
    select 4, 'same', cardinality(a) - v_tail + n, cardinality(b) - v_tail + n from generate_series(1, v_tail) n
  ), message as (
    select l.*, case when l.i is null then b[l.j] else a[l.i] end as m from line l
  )
  select x.what, x.i - 1, a_seq[x.i], x.j - 1, b_seq[x.j], x.m ->> 0, x.m -> 1, nullif(x.m -> 2, 'null'), x.m ->> 3, x.m ->> 4
  from message x order by x.part, coalesce(x.i, x.j);
end $$;
