-- Appends configuration changes [{field, value, by?}] of a lane, or of the whole thread if p_context_ref is null. The
-- stored value of `tools` says which tools are added to and removed from the agent's, so a change {register,
-- unregister} is merged into the previous value; `by` goes into the refs. The caller holds the lock of the thread.
-- Returns the seq of the first entry.
create or replace function lanefold._log_config_change(p_thread_id text, p_context_ref text, p_changes jsonb)
returns bigint language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_first bigint;
  v_known jsonb;
  v_configures boolean;
  v_changes jsonb;
begin
  select rev into v_first from lanefold.thread where id = p_thread_id;
  select c.value into v_known
  from lanefold.lane_config_at(p_thread_id, coalesce(p_context_ref, 'default'), v_first) c where c.field = 'tools';
  v_configures := exists (select from jsonb_array_elements(p_changes) c where c ->> 'field' <> 'system_prompt');
  select to_jsonb(array_agg(jsonb_build_object('kind', 'ai_config_change', 'payload', case
      when c ->> 'field' = 'tools' then jsonb_build_object('field', 'tools', 'value', jsonb_build_object(
        'added', lanefold._name_set(v_known -> 'added', c -> 'value' -> 'register', c -> 'value' -> 'unregister'),
        'removed', lanefold._name_set(v_known -> 'removed', c -> 'value' -> 'unregister', c -> 'value' -> 'register')))
      else c - 'by' end, 'refs', case when c ? 'by' then jsonb_build_object('by', c -> 'by') end) order by n))
  into v_changes from jsonb_array_elements(p_changes) with ordinality as x (c, n);
  perform lanefold._insert_entries(p_thread_id, v_first, v_at, v_changes, p_context_ref);
  update lanefold.thread
  set rev = rev + jsonb_array_length(v_changes), updated_at = v_at, configured = configured or v_configures
  where id = p_thread_id;
  return v_first;
end $$;

-- The names in a or b that are not in c, sorted.
create or replace function lanefold._name_set(a jsonb, b jsonb, c jsonb)
returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(distinct name), '[]')
  from jsonb_array_elements_text(coalesce(a, '[]') || coalesce(b, '[]')) name
  where not coalesce(c, '[]') ? name;
$$;
