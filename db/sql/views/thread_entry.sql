-- The log with complete payloads, including the values stored in columns.
create or replace view lanefold.thread_entry as
select thread_id, seq, kind, context_ref, role, op_id, run_id, coalesce(request_id, run_id) as request_id, is_anchor,
       case kind
         when 'ai_message' then payload || jsonb_strip_nulls(jsonb_build_object('context_ref', context_ref, 'role', role,
           'run_id', run_id, 'request_id', coalesce(request_id, run_id)))
         when 'ai_context_operation' then payload || jsonb_build_object('op_id', op_id, 'context_ref', context_ref)
         when 'ai_config_change' then payload || jsonb_strip_nulls(jsonb_build_object('context_ref', context_ref, 'run_id', run_id))
         else payload
       end as payload,
       coalesce(refs, '{}') as refs, at, tenant_id
from lanefold._entry;
