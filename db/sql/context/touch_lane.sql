-- Adds a lane to the list of lanes, at its first message, replace or switch.
create or replace function lanefold._touch_lane(p_thread_id text, p_context_ref text)
returns void language plpgsql as $$
begin
  insert into lanefold._lane (thread_id, tenant_id, context_ref)
  select t.id, t.tenant_id, p_context_ref from lanefold.thread t where t.id = p_thread_id
  on conflict (thread_id, context_ref) do nothing;
end $$;
