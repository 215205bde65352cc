import type { Database } from '../../postgres/pool.ts';
import type { Run } from './run.ts';

export interface RunRow {
  run: Record<string, never>;
}

/**
 * One JSON value a row: `pg` spends more on describing eighteen columns than on their content. `thread` is a parameter where
 * there is one, which a sharded database looks for in every part of a statement.
 */
export const selectRun = (
  thread = 'run.thread_id',
): string => `select json_build_object('id', id, 'threadId', thread_id, 'requestId', request_id, 'agent', agent,
  'strategy', strategy, 'model', model, 'contextRef', context_ref, 'status', status, 'terminationReason', termination_reason,
  'awaiting', case when status <> 'suspended' then '[]' else (
    select json_agg(json_build_object('round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
      'arguments', c.arguments) order by c.round, c.call_index)
    from lanefold.run_tool_call c where c.thread_id = ${thread} and c.run_id = run.id and c.status = 'awaiting_approval') end,
  'suspendedUntil', suspended_until, 'agentUnknownSince', agent_unknown_since, 'unknownStrategy', unknown_strategy, 'iteration', iteration, 'step', step, 'usage', usage, 'result', result, 'error', error,
  'priority', coalesce((options ->> 'priority')::int, 0), 'startAt', start_at, 'expiresAt', expires_at,
  'resumedFrom', options ->> 'resumed_from', 'retryOf', options ->> 'retry_of', 'createdAt', created_at,
  'startedAt', started_at, 'finishedAt', finished_at, 'durationMs', duration_ms) as run from lanefold.run`;

export const toRun = ({ run }: RunRow): Run => ({
  ...(run as unknown as Run),
  suspendedUntil: date(run['suspendedUntil']),
  agentUnknownSince: date(run['agentUnknownSince']),
  startAt: date(run['startAt']),
  expiresAt: date(run['expiresAt']),
  createdAt: new Date(run['createdAt']!),
  startedAt: date(run['startedAt']),
  finishedAt: date(run['finishedAt']),
});

const date = (text: string | null | undefined): Date | null => (text ? new Date(text) : null);

/** A run, or undefined. */
export async function readRun(db: Database, threadId: string, id: string): Promise<Run | undefined> {
  const [row] = await db.query<RunRow>('get_run', `${selectRun('$1')} where thread_id = $1 and id = $2`, [
    threadId,
    id,
  ]);
  return row && toRun(row);
}
