-- Converts an entry of a custom kind to a draft for _insert_entries. Only takes the fields a caller may set, so that
-- the entry cannot pass for an anchor, a message or an entry of a run. The kind defaults to note, the payload to {}.
create or replace function lanefold._own_draft(e jsonb)
returns jsonb language sql immutable as $$
  select jsonb_build_object('kind', coalesce(e ->> 'kind', 'note'), 'context_ref', e -> 'context_ref',
    'payload', coalesce(nullif(e -> 'payload', 'null'), '{}'), 'refs', e -> 'refs');
$$;
