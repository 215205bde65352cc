-- The row of an entry, however it is written: alone, with others of its thread, or in a batch for many threads. e: its draft, see
-- _insert_entries; the other arguments are what its draft does not say. The columns are in the order of the table, and
-- have its collations, without which PostgreSQL would not inline the function.
create or replace function lanefold._entry_of(
  p_thread_id text, p_tenant text, p_chained boolean, p_seq bigint, p_at timestamptz, p_context_ref text, p_run_id text, p_request_id text, e jsonb
) returns lanefold._entry language sql stable parallel safe as $$
  select row(p_seq, p_at, coalesce((e -> 'is_anchor')::boolean, false), p_thread_id collate "C", p_tenant collate "C",
    coalesce(e ->> 'kind', 'ai_message') collate "C", coalesce(e ->> 'context_ref', p_context_ref) collate "C", e ->> 'role',
    (e ->> 'op_id') collate "C", coalesce(p_run_id, e ->> 'run_id') collate "C",
    nullif(coalesce(p_request_id, e ->> 'request_id'), coalesce(p_run_id, e ->> 'run_id')) collate "C", e -> 'payload', nullif(e -> 'refs', 'null'),
    pg_column_size(e -> 'payload') + pg_column_size(coalesce(nullif(e -> 'refs', 'null'), '{}')),
    case when p_chained then ''::bytea end)::lanefold._entry;
$$;

-- The draft of the user message with which a run begins. PostgreSQL inlines the function.
create or replace function lanefold._question_draft(p_input jsonb)
returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object('role', 'user', 'payload', jsonb_build_object('content', p_input -> 'content'), 'refs', p_input -> 'refs');
$$;
