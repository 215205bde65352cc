import type { Check } from './runs.ts';

/** Results follow call order, regardless of which call finished first. */
export const callOrder: Check[] = [
  {
    invariant: 'I8',
    name: 'the results of a round are consecutive, in call order, and each belongs to its call',
    holds: 'always',
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.result_seq, e.payload ->> 'tool_call_id' as found from lanefold._tool_call c
      join lanefold._tool_call f on f.thread_id = c.thread_id and f.run_id = c.run_id and f.round = c.round and f.call_index = 0
      left join lanefold.thread_entry e on e.thread_id = c.thread_id and e.seq = c.result_seq
      where (c.result_seq is null) <> (f.result_seq is null) or c.result_seq <> f.result_seq + c.call_index
        or (c.result_seq is not null and e.payload ->> 'tool_call_id' is distinct from c.tool_call_id)`,
  },
  {
    invariant: 'I8',
    name: 'the state of a thread is the state folded from its log',
    holds: 'always',
    sql: `
      with t as materialized (select id, rev, state from lanefold.thread)
      select t.id as thread_id, t.state from t where t.state is distinct from lanefold.thread_state_at(t.id, t.rev)`,
  },
];

/** Every assistant message with tool calls is followed in its lane by one tool message per call, in call order. */
export const closedGroups: Check[] = [
  {
    invariant: 'I4',
    name: 'every tool call has its result, and every result its call',
    holds: 'always',
    sql: `
      with message as materialized (
        select thread_id, context_ref, seq, role, payload, row_number() over (partition by thread_id, context_ref order by seq) as n
        from lanefold.thread_entry where kind = 'ai_message'
      ), call as materialized (
        select m.thread_id, m.context_ref, m.seq, m.n + c.k as n, c.call ->> 'id' as id from message m
        cross join lateral jsonb_array_elements(m.payload -> 'tool_calls') with ordinality as c (call, k) where m.role = 'assistant'
      )
      select coalesce(c.thread_id, m.thread_id) as thread_id, coalesce(c.context_ref, m.context_ref) as context_ref,
             c.seq as asked_at, c.id as tool_call_id, m.seq as found_at, m.role as found
      from call c full join message m on m.thread_id = c.thread_id and m.context_ref = c.context_ref and m.n = c.n
      left join lanefold._run r on m.n is null and r.thread_id = c.thread_id and r.active
        and (r.context_ref = c.context_ref or starts_with(c.context_ref, r.id || '.'))
      where case
        when c.n is null then m.role = 'tool'
        when m.n is null then r.id is null
        else m.role <> 'tool' or m.payload ->> 'tool_call_id' is distinct from c.id
      end`,
  },
  {
    invariant: 'I4',
    name: 'an anchor contains only closed groups',
    holds: 'always',
    sql: `
      select thread_id, seq, lanefold._messages_problem(payload -> 'operation' -> 'result_context' -> 'entries') as problem
      from lanefold.thread_entry
      where is_anchor and lanefold._messages_problem(payload -> 'operation' -> 'result_context' -> 'entries') is not null`,
  },
  {
    invariant: 'I4',
    name: 'a lane matches its messages and operations',
    holds: 'always',
    sql: `
      select coalesce(f.thread_id, l.thread_id) as thread_id, to_jsonb(f) as by_log, to_jsonb(l) as by_lane from (
        select e.thread_id, e.context_ref, coalesce(max(e.seq) filter (where e.is_anchor), -1) as anchor_seq, max(e.seq) as last_seq
        from lanefold.thread_entry e where e.kind in ('ai_message', 'ai_context_operation') group by 1, 2) f
      full join lanefold.lane l on l.thread_id = f.thread_id and l.context_ref = f.context_ref
      left join lateral (
        select jsonb_array_length(a.payload -> 'tool_calls') - (
          select count(*) from lanefold.thread_entry m
          where m.thread_id = f.thread_id and m.context_ref = f.context_ref and m.role = 'tool' and m.seq > a.seq) as calls
        from lanefold.thread_entry a
        where a.thread_id = f.thread_id and a.context_ref = f.context_ref and a.seq > f.anchor_seq and a.role in ('user', 'assistant')
        order by a.seq desc limit 1) o on true
      where (f.anchor_seq, f.last_seq, coalesce(o.calls, 0)) is distinct from (l.anchor_seq, l.last_seq, l.open_calls::bigint)`,
  },
  {
    invariant: 'I4',
    name: 'only a lane with an active run has open calls',
    holds: 'always',
    sql: `
      select * from lanefold.lane l where open_calls > 0 and not exists (
        select from lanefold._run r where r.thread_id = l.thread_id and r.context_ref = l.context_ref and r.active)`,
  },
  {
    invariant: 'I4',
    name: 'no ended run has an open tool call',
    holds: 'always',
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.status from lanefold._tool_call c
      join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
      where r.finished_at is not null and (c.result_seq is null or c.outcome is not null or c.status in ('pending', 'started', 'awaiting_approval'))`,
  },
];

/** Sequence numbers have no gaps: entries and events of a thread, events of a run. */
export const gaplessSequences: Check[] = [
  {
    invariant: 'I1',
    name: 'rev = number of entries = highest seq + 1',
    holds: 'always',
    sql: `
      select t.id as thread_id, t.rev, count(e.seq) as entries, max(e.seq) as last_seq
      from lanefold.thread t left join lanefold.thread_entry e on e.thread_id = t.id where t.erased_at is null
      group by t.id having t.rev <> count(e.seq) or t.rev <> coalesce(max(e.seq) + 1, 0)`,
  },
  {
    invariant: 'I1',
    name: 'event_rev = number of events = highest event_seq + 1',
    holds: 'always',
    sql: `
      select t.id as thread_id, t.event_rev, count(e.event_seq) as events, max(e.event_seq) as last_seq
      from lanefold.thread t left join lanefold.run_event e on e.thread_id = t.id where t.erased_at is null
      group by t.id having t.event_rev <> count(e.event_seq) or t.event_rev <> coalesce(max(e.event_seq) + 1, 0)
        or count(distinct e.event_seq) <> count(e.event_seq)`,
  },
  {
    invariant: 'I1',
    name: 'the events of a run are numbered 1, 2, 3, …',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.event_count, count(e.seq) as events, max(e.seq) as last_seq
      from lanefold.run r left join lanefold.run_event e on e.thread_id = r.thread_id and e.run_id = r.id
      group by r.thread_id, r.id, r.event_count having count(e.seq) <> r.event_count
        or coalesce(max(e.seq), 0) <> r.event_count or count(distinct e.seq) <> r.event_count`,
  },
];

/** Storage grows linearly with messages: no step stores another copy of the context. */
export const linearStorage: Check[] = [
  {
    invariant: 'I10',
    name: 'an ended run keeps no state and, if it had started, no input; no state exceeds 64 KB',
    holds: 'always',
    sql: `
      select thread_id, id as run_id, pg_column_size(state) as state_bytes from lanefold._run
      where (finished_at is not null and (state is not null or (input is not null and user_seq is not null))) or pg_column_size(state) > 65536`,
  },
  {
    invariant: 'I10',
    name: 'the number of trace batches of a run is bounded by its steps',
    holds: 'always',
    // a run may lose up to 20 workers before a step
    sql: `
      select r.thread_id, r.id as run_id, r.step, count(b.*) as batches from lanefold.run r
      join lanefold._event_batch b on b.thread_id = r.thread_id and b.run_id = r.id
      group by r.thread_id, r.id, r.step having count(b.*) > 3 * r.step + 30`,
  },
];

/** Entries never change, and the log has no duplicates. */
export const unchangedEntries: Check[] = [
  {
    invariant: 'I2',
    name: 'the triggers that keep the log append-only exist and are always enabled',
    holds: 'always',
    sql: `
      select null as thread_id, w.name, g.tgenabled from (values ('append_only'), ('append_only_truncate')) w (name)
      left join pg_trigger g on g.tgname = w.name and g.tgrelid = 'lanefold._entry'::regclass
      where g.tgenabled is distinct from 'A'`,
  },
  {
    invariant: 'I2',
    name: 'a started run has its user message at user_seq',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.user_seq from lanefold.run r
      left join lanefold.thread_entry e on e.thread_id = r.thread_id and e.seq = r.user_seq
      where (r.started_at is not null and r.user_seq is null and not coalesce(r.options ?| array['compaction', 'continues'], false))
        or (r.user_seq is not null and (e.run_id, e.role) is distinct from (r.id, 'user'))`,
  },
  {
    invariant: 'I2',
    name: 'every large text that an entry quotes is stored unchanged',
    holds: 'always',
    sql: `
      with quoted as materialized (
        select e.thread_id, e.seq, jsonb_path_query(e.refs, '$.contents[*]') ->> 'id' as id from lanefold._entry e
        union all
        select e.thread_id, e.seq, jsonb_path_query(e.payload, '$.operation.result_context.entries[*].refs.contents[*]') ->> 'id'
        from lanefold._entry e where e.is_anchor
      ), found as (select q.*, lanefold._content_text(q.thread_id, q.id) as text from quoted q)
      select thread_id, seq, id from found
      where text is null or id <> 'c_' || left(encode(sha256(convert_to(text, 'UTF8')), 'hex'), 32)`,
  },
  {
    invariant: 'I2',
    name: 'a model call has at most one answer',
    holds: 'always',
    sql: `
      select thread_id, run_id, refs ->> 'llm_call_id' as llm_call_id, array_agg(seq) as seqs from lanefold.thread_entry
      where role = 'assistant' and refs ? 'llm_call_id'
      group by 1, 2, 3 having count(*) > 1`,
  },
  {
    invariant: 'I2',
    name: 'a tool message of a run is the result of exactly one of its calls',
    holds: 'always',
    sql: `
      select e.thread_id, e.run_id, e.seq, count(c.call_index) as calls from lanefold.thread_entry e
      left join lanefold.run_tool_call c on c.thread_id = e.thread_id and c.run_id = e.run_id and c.result_seq = e.seq
      where e.kind = 'ai_message' and e.role = 'tool' and e.run_id is not null
      group by 1, 2, 3 having count(c.call_index) <> 1`,
  },
];
