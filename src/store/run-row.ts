import type { Json, Usage } from '../context/message.ts';

export type RunStatus = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

export interface RunHandle {
  id: string;
  threadId: string;
  requestId: string;
  status: RunStatus;
  /** The request had been accepted before. */
  duplicate: boolean;
}

/** A tool call that waits for approval. */
export interface AwaitingCall {
  round: number;
  /** In its round, from 0. */
  index: number;
  /** The provider's id of the call; it may repeat. */
  id: string;
  name: string;
  arguments: Json;
}

export interface Run {
  id: string;
  threadId: string;
  requestId: string;
  agent: string;
  strategy: string;
  model: string;
  contextRef: string;
  status: RunStatus;
  /** `final_answer`, `max_iterations`, `error`, `cancelled`, `poisoned`; null while it runs. */
  terminationReason: string | null;
  iteration: number;
  step: number;
  usage: Usage | null;
  result: Json;
  error: { type: string; message: string } | null;
  /** The run whose checkpoint token it was started from. */
  resumedFrom: string | null;
  /** What a suspended run waits for; empty otherwise. */
  awaiting: AwaitingCall[];
  /** When the calls that nobody has decided on are denied; null while the run is not suspended. */
  suspendedUntil: Date | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  durationMs: number | null;
}

export interface RunRow {
  run: Record<string, never>;
}

/** One JSON value a row: `pg` spends more on describing eighteen columns than on their content. */
export const selectRun = `select json_build_object('id', id, 'threadId', thread_id, 'requestId', request_id, 'agent', agent,
  'strategy', strategy, 'model', model, 'contextRef', context_ref, 'status', status, 'terminationReason', termination_reason,
  'awaiting', case when status <> 'suspended' then '[]' else (
    select json_agg(json_build_object('round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
      'arguments', c.arguments) order by c.round, c.call_index)
    from lanefold.run_tool_call c where c.thread_id = run.thread_id and c.run_id = run.id and c.status = 'awaiting_approval') end,
  'suspendedUntil', suspended_until, 'iteration', iteration, 'step', step, 'usage', usage, 'result', result, 'error', error, 'resumedFrom', options ->> 'resumed_from', 'createdAt', created_at,
  'startedAt', started_at, 'finishedAt', finished_at, 'durationMs', duration_ms) as run from lanefold.run`;

export const toRun = ({ run }: RunRow): Run => ({
  ...(run as unknown as Run),
  suspendedUntil: date(run['suspendedUntil']),
  createdAt: new Date(run['createdAt']!),
  startedAt: date(run['startedAt']),
  finishedAt: date(run['finishedAt']),
});

const date = (text: string | null | undefined): Date | null => (text ? new Date(text) : null);
