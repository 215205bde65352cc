-- Stores the versions of the agents that a worker starts with. p: [{agent, id, definition, label?}]. A version that is known
-- already only gets the time and the label.
create or replace function lanefold.record_versions(p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_one jsonb;
begin
  for v_one in select value from jsonb_array_elements(p) order by value ->> 'agent', value ->> 'id' loop
    insert into lanefold._agent_version (agent, id, definition, first_at, last_at, label)
    values (v_one ->> 'agent', v_one ->> 'id', v_one -> 'definition', v_at, v_at, v_one ->> 'label')
    on conflict (agent, id) do update set last_at = v_at, label = excluded.label;
  end loop;
end $$;
