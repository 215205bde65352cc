import type { Check } from './check.ts';

/** An input to a run reaches it exactly once, before its final answer. */
export const inputsOnce: Check[] = [
  {
    invariant: 'I7',
    name: 'an input is in the log exactly once if it was injected, and otherwise absent',
    holds: 'always',
    sql: `
      select coalesce(i.thread_id, e.thread_id) as thread_id, coalesce(i.id, e.input_id) as input_id, i.status, e.seqs from lanefold.pending_input i
      full join (select thread_id, refs ->> 'input_id' as input_id, array_agg(seq) as seqs from lanefold.thread_entry
                 where kind = 'ai_message' and refs ? 'input_id' group by 1, 2) e on e.thread_id = i.thread_id and e.input_id = i.id
      where e.seqs is distinct from case when i.status = 'injected' then array[i.entry_seq] end`,
  },
  {
    invariant: 'I7',
    name: 'a run that ended with a final answer received every input before that answer',
    holds: 'always',
    sql: `
      select i.thread_id, i.run_id, i.id as input_id, i.status, i.entry_seq, r.result_seq from lanefold.pending_input i
      join lanefold.run r on r.thread_id = i.thread_id and r.id = i.run_id
      where r.termination_reason = 'final_answer' and (i.status <> 'injected' or i.entry_seq > r.result_seq)`,
  },
  {
    invariant: 'I7',
    name: 'queued_inputs equals the number of queued inputs, and is 0 for ended runs',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.queued_inputs, count(i.id) as queued from lanefold._run r
      left join lanefold.pending_input i on i.thread_id = r.thread_id and i.run_id = r.id and i.status = 'queued'
      group by r.thread_id, r.id having r.queued_inputs <> count(i.id) or (r.finished_at is not null and count(i.id) > 0)`,
  },
];
