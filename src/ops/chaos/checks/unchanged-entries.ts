import type { Check } from './check.ts';

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
