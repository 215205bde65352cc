-- An entry of a caller's own kind as a draft for _insert_entries: only the fields a caller may set, so that
-- no such entry passes for an anchor, a message or the entry of a run. Without a kind it is a note, without a payload {}.
create or replace function lanefold._own_draft(e jsonb)
returns jsonb language sql immutable as $$
  select jsonb_build_object('kind', coalesce(e ->> 'kind', 'note'), 'context_ref', e -> 'context_ref',
    'payload', coalesce(nullif(e -> 'payload', 'null'), '{}'), 'refs', e -> 'refs');
$$;
