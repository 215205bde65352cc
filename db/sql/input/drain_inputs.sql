-- Appends every queued input of a run as user messages from the seq p_first on, in order, and marks the receipts.
-- Returns the messages that the worker adds to its context and the `input_injected` events. The caller updates the
-- counters: claim_run drains before the first model call, commit_step with each step that leads to another one. An
-- event repeats refs of up to 1 KiB; the entry has them in full.
create or replace function lanefold._drain_inputs(
  p_thread_id text, p_run_id text, p_first bigint, p_at timestamptz, p_context_ref text, p_request_id text, p_iteration int
) returns table (inputs jsonb, events jsonb) language plpgsql as $$
declare
  v_drafts jsonb;
begin
  with taken as (
    update lanefold.pending_input i
    set status = 'injected', settled_at = p_at, entry_seq = p_first + x.n - 1
    from (select ordinal, row_number() over (order by ordinal) as n from lanefold.pending_input
          where thread_id = p_thread_id and run_id = p_run_id and status = 'queued') x
    where i.thread_id = p_thread_id and i.run_id = p_run_id and i.ordinal = x.ordinal
    returning i.*
  )
  select to_jsonb(array_agg(jsonb_build_object('seq', entry_seq, 'role', 'user', 'content', coalesce(parts, to_jsonb(content)), 'refs', jsonb_build_object('kind', kind))
           order by ordinal)),
         to_jsonb(array_agg(jsonb_build_object('k', 'input_injected', 'i', p_iteration, 'd', jsonb_build_object('input_id', id, 'kind', kind,
           'by', by, 'refs', case when octet_length(refs::text) <= 1024 then refs end, 'at_ms', (extract(epoch from created_at) * 1000)::bigint,
           'seq', entry_seq)) order by ordinal)),
         to_jsonb(array_agg(jsonb_build_object('role', 'user', 'payload', jsonb_build_object('content', coalesce(parts, to_jsonb(content))),
           'refs', coalesce(refs, '{}') || jsonb_build_object('kind', kind, 'by', by, 'input_id', id)) order by ordinal))
  into inputs, events, v_drafts from taken;
  perform lanefold._insert_entries(p_thread_id, p_first, p_at, v_drafts, p_context_ref, p_run_id, p_request_id);
  return next;
end $$;
