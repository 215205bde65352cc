-- Calls a function of a thread for one tenant, on the node of a distributed database that has the thread, where the
-- settings of the caller's session are not known. p_args are its arguments after the thread, as text; p_role: a role
-- to call it as, for a session that no policy binds, else null. Runs with the rights of the caller.
create or replace function lanefold._for_tenant(p_thread_id text, p_tenant text, p_role text, p_function text, p_args text[])
returns json language plpgsql as $$
declare
  v_call text;
  v_result json;
begin
  -- no injection: the function name is quoted, and the type names come from the catalog
  select format('select to_json(lanefold.%I(%s))', p_function,
      string_agg(format('$1[%s]::%s', t.n, format_type(t.type, null)), ', ' order by t.n)) into v_call
  from pg_proc p, unnest(p.proargtypes) with ordinality as t (type, n)
  where p.pronamespace = 'lanefold'::regnamespace and p.proname = p_function and t.n <= cardinality(p_args) + 1;
  perform set_config('lanefold.tenant', p_tenant, true);
  if p_role is not null then
    perform set_config('role', p_role, true);
  end if;
  execute v_call into v_result using array_prepend(p_thread_id, p_args);
  return v_result;
end $$;
