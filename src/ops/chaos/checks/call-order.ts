import type { Check } from './check.ts';

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
