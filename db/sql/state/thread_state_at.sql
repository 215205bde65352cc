-- The state of tools as of an entry, inclusive: the fold of all state changes up to that entry. Beyond the head it is
-- thread.state.
create or replace function lanefold.thread_state_at(p_thread_id text, p_upto bigint)
returns jsonb language plpgsql stable as $$
declare
  v_effects jsonb;
  v jsonb := '{}'::jsonb;
begin
  for v_effects in
    select e.payload -> 'operations' from lanefold._entry e
    where e.thread_id = p_thread_id and e.kind = 'ai_state_change' and e.seq <= p_upto order by e.seq
  loop
    v := lanefold._apply_effects(v, v_effects);
  end loop;
  return v;
end $$;
