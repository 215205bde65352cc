import type { Database } from '../../postgres/pool.ts';
import type { RunRef } from '../run/run.ts';
import type { CallRef } from '../../../base/checks/call-name.ts';
import type { StoredChild } from './wait-tasks.ts';
import { readRows } from '../rows.ts';

/** What is asked of a child run; the rest of its request says by which call, and what it may cost. */
export type AskedOfChild = Omit<StoredChild, 'parent' | 'max_cost' | 'limit_keys' | 'caller'>;

/** Of calls that have asked the same, the first ones are enough. */
const atMost = 5;

/** The ended child runs that calls of a run have asked the same, that of the same call first. */
export const findEarlierChildren = (
  db: Database,
  run: { threadId: string; runId: string },
  { round, index }: CallRef,
  asked: AskedOfChild,
): Promise<RunRef[]> =>
  readRows<RunRef>(
    db,
    'find_earlier_children',
    `select child_thread_id as thread_id, child_run_id as id from lanefold._wait
     where thread_id = $1 and run_id = $2 and request is not null and child_ended_at is not null
       and request - '{parent,max_cost,limit_keys,caller}'::text[] = $5
     order by (round = $3 and call_index = $4) desc, round, call_index limit ${atMost}`,
    [run.threadId, run.runId, round, index, asked],
  );
