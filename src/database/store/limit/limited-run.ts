import type { Usage } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** The row of a run, as far as its limits concern it. */
export interface LimitedRunRow {
  tenantId: string;
  caller: string | null;
  agent: string;
  model: string;
  limitKeys: Record<string, string> | null;
  priority: number | null;
  createdAt: Date;
  finishedAt: Date | null;
  iteration: number;
  usage: Usage | null;
  otherUsage: Record<string, Usage> | null;
}

/** Undefined if the run does not exist. */
export async function readLimitedRun(
  db: Database,
  threadId: string,
  runId: string,
): Promise<LimitedRunRow | undefined> {
  const [row] = await readRows<LimitedRunRow>(
    db,
    'limited_run',
    `select tenant_id, caller, agent, model, options -> 'limit_keys' as limit_keys,
       (options ->> 'priority')::int as priority, created_at, finished_at, iteration, usage,
       other_usage
     from lanefold._run where thread_id = $1 and id = $2`,
    [threadId, runId],
  );
  return row;
}
