import type { Json, JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { LoggedConfig } from '../context/read-config.ts';
import type { RunOptions } from './run-options.ts';

export interface RunToolCall {
  round: number;
  /** In its round, from 0. */
  index: number;
  /** The provider's id; it may repeat. */
  id: string;
  name: string;
  arguments: Json;
  status: string;
  /** The result as the model sees it; null while the call is open. */
  result: Json;
  attempts: number;
  durationMs: number | null;
}

/** What a snapshot of a run has besides the run itself. */
export interface RunDetails {
  phase: string | null;
  call_no: number | null;
  options: RunOptions | null;
  config: LoggedConfig | null;
  tool_calls: RunToolCall[] | null;
  queued_inputs: number;
  output: JsonObject | null;
  answer: Json;
  worker: { id: string; leaseUntil: string } | null;
  job: { queue: string; id: string };
}

const selectDetails = `select json_build_object('phase', r.state ->> 'phase', 'call_no', r.state -> 'call_no', 'options', r.options,
  'config', (select json_object_agg(field, value) from lanefold.lane_config_at(r.thread_id, r.context_ref, r.user_seq)),
  'tool_calls', (select json_agg(json_build_object('round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
      'arguments', c.arguments, 'status', c.status, 'result', c.result, 'attempts', c.attempts, 'durationMs', c.duration_ms)
      order by c.round, c.call_index)
    from lanefold.run_tool_call c where c.thread_id = r.thread_id and c.run_id = r.id),
  'queued_inputs', (select count(*) from lanefold.pending_input i where i.thread_id = r.thread_id and i.run_id = r.id and i.status = 'queued'),
  'output', (select e.data -> 'output' from lanefold.run_event e
    where e.thread_id = r.thread_id and e.run_id = r.id and e.kind = 'request_completed'),
  'worker', case when r.status = 'running' then json_build_object('id', r.worker_id, 'leaseUntil', r.lease_until) end,
  'job', json_build_object('queue', q.queue_prefix || '-' || r.queue_shard, 'id', r.id || '.' || r.enqueue_no),
  'answer', (select e.payload -> 'content' from lanefold.thread_entry e
    where e.thread_id = r.thread_id and e.run_id = r.id and e.role = 'assistant' order by e.seq desc limit 1)) as details
  from lanefold.run r join lanefold._run q on q.thread_id = r.thread_id and q.id = r.id where r.thread_id = $1 and r.id = $2`;

/** The details of a run, or undefined. */
export async function readRunDetails(db: Database, threadId: string, id: string): Promise<RunDetails | undefined> {
  const [row] = await db.query<{ details: RunDetails }>('get_run_details', selectDetails, [threadId, id]);
  return row?.details;
}
