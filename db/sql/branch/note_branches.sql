-- Notes in the list of lanes where the branches of a thread begin, as its log says: a branch is a lane that begins with an anchor
-- of this reason. Raises LF014 for one that leaves a lane before that one began, which no function writes.
create or replace function lanefold._note_branches(p_thread_id text)
returns void language plpgsql as $$
declare
  v_begun jsonb;
  v_branches jsonb;
  v_wrong text;
begin
  select to_jsonb(array_agg(x)) into v_begun from (
    select distinct on (e.context_ref) e.context_ref as ref, e.seq, e.payload #> '{operation,meta,branch}' as b, e.payload #>> '{operation,reason}' as reason
    from lanefold._entry e
    where e.thread_id = p_thread_id and e.kind = 'ai_context_operation'
    order by e.context_ref, e.seq) x;
  select to_jsonb(array_agg(x)) into v_branches from jsonb_array_elements(v_begun) x where x ->> 'reason' = 'branch' and x ? 'b';
  if v_branches is null then
    return;
  end if;
  select x ->> 'ref' into v_wrong
  from jsonb_array_elements(v_branches) x
  where x #>> '{b,context_ref}' = x ->> 'ref' or exists (
    select from jsonb_array_elements(v_branches) y where y ->> 'ref' = x #>> '{b,context_ref}' and y -> 'seq' > x #> '{b,after_seq}')
  limit 1;
  if v_wrong is not null then
    perform lanefold._fail('LF014', format('Lane %s branches after an entry that its parent does not have.', v_wrong),
      'Nothing was imported. Correct the source, or export the thread again.');
  end if;
  update lanefold._lane l
  set parent_ref = x #>> '{b,context_ref}', root_ref = x #>> '{b,root_ref}', branch_seq = (x ->> 'seq')::bigint,
      after_seq = (x #>> '{b,after_seq}')::bigint, parent_seq = (x #>> '{b,parent_seq}')::bigint
  from jsonb_array_elements(v_branches) x
  where l.thread_id = p_thread_id and l.context_ref = x ->> 'ref';
end $$;

-- Whether an anchor of this seq may say this of its branch.
create or replace function lanefold._is_branch(b jsonb, p_seq bigint)
returns boolean language sql immutable parallel safe as $$
  select coalesce(lanefold._is_id(b ->> 'context_ref') and lanefold._is_id(b ->> 'root_ref')
    and jsonb_typeof(b -> 'after_seq') = 'number' and b ->> 'after_seq' ~ '^(-1|[0-9]{1,18})$' and b -> 'after_seq' < to_jsonb(p_seq)
    and (b ->> 'parent_seq' is null or b ->> 'parent_seq' ~ '^[0-9]{1,18}$' and b -> 'parent_seq' <= b -> 'after_seq'), false);
$$;
