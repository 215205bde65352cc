-- A run with its derived columns, which are stored once or not at all. The options are shown without what may be secret:
-- headers, options of providers, and tool context.
create or replace view lanefold.run as
select r.thread_id, r.id, r.agent, r.strategy, r.model, r.context_ref, coalesce(r.request_id, r.id) as request_id,
       -- from the hash and all the rest, a reader could guess what the options hide
       case when not r.options ?| array['tool_context', 'settings', 'asked'] is true then encode(r.request_hash, 'hex') end as request_hash, r.status, r.termination_reason, r.lease, r.worker_id, r.lease_until,
       r.enqueue_no, r.queue_shard, r.step, r.iteration, r.usage,
       coalesce(r.result, e.payload -> 'content') as result,
       r.error, r.state,
       r.options #- '{tool_context}' #- '{settings,headers}' #- '{settings,provider_options}'
         #- '{asked,options,tool_context}' #- '{asked,options,settings,headers}' #- '{asked,options,settings,provider_options}' as options,
       r.user_seq, r.result_seq, r.event_count, r.trace_truncated, r.sealed_at,
       r.cancel_requested_at, r.suspended_until, r.created_at, r.started_at, r.finished_at,
       (extract(epoch from r.finished_at - r.started_at) * 1000)::bigint as duration_ms, r.trace_dropped_at,
       case when r.finished_at is null then r.agent_unknown_since end as agent_unknown_since, r.traceparent, r.tenant_id,
       case when r.finished_at is null and r.agent_unknown_since is not null then r.unknown_strategy end as unknown_strategy,
       case when r.finished_at is null and r.agent_unknown_since is not null then r.unknown_version end as unknown_version,
       r.start_at, r.expires_at, r.other_usage, case when r.status = 'queued' then r.limited_by end as limited_by, r.agent_version,
       case when r.status = 'queued' then r.ready_at end as queued_since,
       case when r.finished_at is null and r.agent_unknown_since is not null then
         -- as `_tool_names` does: readers may not call functions
         string_to_array(ltrim(replace(array_to_string(r.unknown_tools, ' '), ' +', ' '), '+'), ' ') end as unknown_tools,
       r.finish_reason, coalesce(r.finish_reason in ('length', 'content_filter'), false) as truncated, r.answered
from lanefold._run r
-- a join, because a sharded database routes it to one shard but sends a sub-select to all
left join lanefold._entry e on e.thread_id = r.thread_id and e.seq = r.result_seq;
