-- Changes the configuration of a lane, or of the whole thread if p_context_ref is null, from the next run on. The
-- change is written at once on an idle thread, otherwise after the active run ends. p_changes: [{field, value, by?}],
-- where field is system_prompt (text or null), tool_context (an object), policy (a context policy: an object, the name
-- of a preset, or null for the agent's) or tools ({register, unregister}: lists of names). `by` names the author of
-- the change and is stored in the refs of the entry.
-- Returns {status: applied|deferred, first_seq?}. Raises LF014 for changes that cannot be written, LF016 for a bad
-- lane.
create or replace function lanefold.change_config(p_thread_id text, p_context_ref text, p_changes jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  v_problem text;
  v_deferred jsonb;
begin
  if p_context_ref is not null then
    perform lanefold._check_id(p_context_ref, 'context_ref');
  end if;
  perform lanefold._check_depth(p_changes, 'The list of changes');
  -- rejected now, because an invalid deferred change would prevent the active run from ending
  v_problem := case
    when jsonb_typeof(p_changes) is distinct from 'array' or p_changes = '[]' then 'they are not a list, or the list is empty'
    else (select format('the field %s is unknown or has an invalid value', coalesce(c ->> 'field', '(none)'))
          from jsonb_array_elements(p_changes) c
          where not coalesce(case c ->> 'field'
            when 'system_prompt' then jsonb_typeof(c -> 'value') in ('string', 'null')
            when 'policy' then jsonb_typeof(c -> 'value') in ('object', 'string', 'null')
            when 'tool_context' then jsonb_typeof(c -> 'value') = 'object'
            when 'tools' then jsonb_typeof(c -> 'value') = 'object' and not exists (
              select from jsonb_each(c -> 'value') as e (k, v) where k not in ('register', 'unregister') or jsonb_typeof(v) <> 'array'
                or jsonb_path_exists(case when jsonb_typeof(v) = 'array' then v else '[]' end, '$[*] ? (@.type() <> "string")'))
            end, false)
            or c ? 'by' and jsonb_typeof(c -> 'by') <> 'string' limit 1)
  end;
  if v_problem is not null then
    perform lanefold._fail('LF014', format('The changes are invalid: %s.', v_problem),
      'Nothing was changed. Correct the changes and send them again.');
  end if;
  t := lanefold._lock_thread(p_thread_id);
  if t.active_run_id is null then
    return jsonb_build_object('status', 'applied', 'first_seq', lanefold._log_config_change(p_thread_id, p_context_ref, p_changes));
  end if;
  v_deferred := jsonb_build_array(jsonb_build_object('context_ref', p_context_ref, 'changes', p_changes));
  update lanefold.thread set pending_config = coalesce(pending_config, '[]') || v_deferred where id = p_thread_id;
  return jsonb_build_object('status', 'deferred');
end $$;
