import type { Usage } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';

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
  const [row] = await db.query<LimitedRunRow>(
    'limited_run',
    `select tenant_id as "tenantId", caller, agent, model, options -> 'limit_keys' as "limitKeys",
       (options ->> 'priority')::int as priority, created_at as "createdAt", finished_at as "finishedAt", iteration, usage,
       other_usage as "otherUsage"
     from lanefold._run where thread_id = $1 and id = $2`,
    [threadId, runId],
  );
  return row;
}
