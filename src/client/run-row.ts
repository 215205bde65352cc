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
  'iteration', iteration, 'step', step, 'usage', usage, 'result', result, 'error', error, 'resumedFrom', options ->> 'resumed_from', 'createdAt', created_at,
  'startedAt', started_at, 'finishedAt', finished_at, 'durationMs', duration_ms) as run from lanefold.run`;

export const toRun = ({ run }: RunRow): Run => ({
  ...(run as unknown as Run),
  createdAt: new Date(run['createdAt']!),
  startedAt: date(run['startedAt']),
  finishedAt: date(run['finishedAt']),
});

const date = (text: string | null | undefined): Date | null => (text ? new Date(text) : null);
