import { camelKeys } from '../../../base/common/case.ts';
import type { RunMarkCount } from '../trace/types.ts';

/** SQL: the marks of a run as lists show them, in the order of its log; null: none. `run` has `thread_id` and `id`. */
export const marksOfRun = (run: string): string => `(
  select json_agg(json_build_object('run_id', m.run_id, 'kind', m.kind, 'seq', m.seq, 'llm_call_id', m.llm_call_id, 'count', m.count)
           order by m.seq nulls last, m.kind)
  from lanefold._run_mark m where m.thread_id = ${run}.thread_id and m.run_id = ${run}.id)`;

/** SQL: the marks of all runs of a thread; of each kind, the place of the first. */
export const marksOfThread = (threadId: string): string => `(
  select json_agg(json_build_object('run_id', k.run_id, 'kind', k.kind, 'seq', k.seq, 'llm_call_id', k.llm_call_id, 'count', k.count)
           order by k.seq nulls last, k.created_at, k.kind)
  from (select distinct on (m.kind) m.run_id, m.kind, m.seq, m.llm_call_id, m.created_at, sum(m.count) over (partition by m.kind)::int as count
        -- a change of the whole thread is marked at the next run of each lane, but counts once
        from (select distinct on (x.kind, coalesce(x.seq::text, x.run_id)) x.run_id, x.kind, x.seq, x.llm_call_id, x.count, x.created_at
              from lanefold._run_mark x where x.thread_id = ${threadId}
              order by x.kind, coalesce(x.seq::text, x.run_id), x.created_at, x.run_id) m
        order by m.kind, m.seq nulls last, m.created_at, m.run_id) k)`;

/** SQL: how many runs the tool calls of a run have started. */
export const childrenOfRun = (run: string): string => `(
  select count(distinct w.child_run_id)::int from lanefold._wait w
  where w.thread_id = ${run}.thread_id and w.run_id = ${run}.id and w.child_run_id is not null)`;

/** SQL: how many threads the tool calls of a thread have created. */
export const childrenOfThread = (threadId: string): string => `(
  select count(distinct w.child_thread_id)::int from lanefold._wait w
  where w.thread_id = ${threadId} and w.child_run_id is not null)`;

export const toMarks = (marks: readonly object[] | null): RunMarkCount[] =>
  (marks ?? []).map((mark) => camelKeys(mark) as unknown as RunMarkCount);
