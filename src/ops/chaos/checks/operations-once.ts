import type { Check } from './check.ts';

/** An operation is applied at most once. */
export const operationsOnce: Check[] = [
  {
    invariant: 'I6',
    name: 'an operation is in the log exactly once if it was applied, and otherwise absent',
    holds: 'always',
    sql: `
      select coalesce(o.thread_id, e.thread_id) as thread_id, coalesce(o.op_id, e.op_id) as op_id, o.status, e.seqs from lanefold.context_op o
      full join (select thread_id, op_id, array_agg(seq) as seqs from lanefold.thread_entry where kind = 'ai_context_operation' group by 1, 2) e
        on e.thread_id = o.thread_id and e.op_id = o.op_id
      where e.seqs is distinct from case when o.status = 'applied' then array[o.entry_seq] end`,
  },
  {
    invariant: 'I6',
    name: 'a pending operation waits for an active run',
    holds: 'always',
    sql: `
      select coalesce(t.id, o.thread_id) as thread_id, t.pending_op_id, o.op_id
      from lanefold.thread t full join (select * from lanefold.context_op where status = 'pending') o on o.thread_id = t.id
      where t.pending_op_id is distinct from o.op_id or (o.op_id is not null and t.active_run_id is null)`,
  },
];
