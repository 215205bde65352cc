-- The state of a thread after some effects of tools, in their order. A path consists of object keys; lists are values.
-- src/agent/context/state.ts has the same rules, and a test compares the two.
create or replace function lanefold._apply_effects(p_state jsonb, p_effects jsonb)
returns jsonb language plpgsql immutable as $$
declare
  e jsonb;
  v jsonb := p_state;
begin
  for e in select value from jsonb_array_elements(p_effects) loop
    v := case e ->> 'op'
      when 'set' then lanefold._deep_merge(v, e -> 'value')
      when 'replace' then e -> 'value'
      when 'delete_keys' then v - array(select jsonb_array_elements_text(e -> 'keys'))
      when 'set_path' then lanefold._set_path(v, array(select jsonb_array_elements_text(e -> 'path')), e -> 'value')
      when 'delete_path' then lanefold._delete_path(v, array(select jsonb_array_elements_text(e -> 'path')))
      else v end;
  end loop;
  return v;
end $$;

-- Objects are merged key by key; anything else is replaced.
create or replace function lanefold._deep_merge(a jsonb, b jsonb)
returns jsonb language plpgsql immutable as $$
begin
  if jsonb_typeof(a) is distinct from 'object' or jsonb_typeof(b) is distinct from 'object' then
    return b;
  end if;
  return a || coalesce((
    select json_object_agg(key, case when a ? key then lanefold._deep_merge(a -> key, value) else value end)::jsonb from jsonb_each(b)), '{}');
end $$;

-- Creates missing parents and replaces parents that are not objects.
create or replace function lanefold._set_path(p jsonb, p_path text[], p_value jsonb)
returns jsonb language plpgsql immutable as $$
declare
  v_base constant jsonb := case when jsonb_typeof(p) = 'object' then p else '{}' end;
begin
  return v_base || jsonb_build_object(p_path[1], case when cardinality(p_path) = 1 then p_value
    else lanefold._set_path(v_base -> p_path[1], p_path[2:], p_value) end);
end $$;

create or replace function lanefold._delete_path(p jsonb, p_path text[])
returns jsonb language plpgsql immutable as $$
begin
  if jsonb_typeof(p) is distinct from 'object' or not p ? p_path[1] then
    return p;
  elsif cardinality(p_path) = 1 then
    return p - p_path[1];
  end if;
  return p || jsonb_build_object(p_path[1], lanefold._delete_path(p -> p_path[1], p_path[2:]));
end $$;
