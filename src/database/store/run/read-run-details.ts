import type { RunToolCall } from './types.ts';
import { callRows } from '../call.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { RunOptions, LoggedConfig } from '../../../agent/definition/run-options.ts';
import { questionSql } from './question.ts';

/** What a snapshot of a run adds to the run itself. */
export interface RunDetails {
  phase: string | null;
  call_no: number | null;
  options: RunOptions | null;
  config: LoggedConfig | null;
  tool_calls: RunToolCall[] | null;
  queued_inputs: number;
  question: string | null;
  output: JsonObject | null;
  answer: Json;
  worker: { id: string; leaseUntil: string } | null;
  job: { queue: string; id: string };
}

const config =
  '(select json_object_agg(field, value) from lanefold.lane_config_at(r.thread_id, r.context_ref, r.user_seq))';

const selectDetails = (
  config: string,
) => `select r.context_ref, r.user_seq, json_build_object('phase', r.state ->> 'phase', 'call_no', r.state -> 'call_no', 'options', q.options,
  'config', ${config}, 'question', ${questionSql('q', '$1')},
  'tool_calls', (select json_agg(json_build_object('call', c.round || '.' || c.call_index, 'round', c.round, 'index', c.call_index, 'id', c.tool_call_id, 'name', c.name,
      'arguments', c.arguments, 'status', c.status, 'result', c.result, 'attempts', c.attempts, 'durationMs', c.duration_ms)
      order by c.round, c.call_index)
    from lanefold.run_tool_call c where c.thread_id = $1 and c.run_id = $2),
  'queued_inputs', (select count(*) from lanefold.pending_input i where i.thread_id = $1 and i.run_id = $2 and i.status = 'queued'),
  'output', (select e.data -> 'output' from lanefold.run_event e
    where e.thread_id = $1 and e.run_id = $2 and e.kind = 'request_completed'),
  'worker', case when r.status = 'running' then json_build_object('id', r.worker_id, 'leaseUntil', r.lease_until) end,
  'job', json_build_object('queue', q.queue_prefix || '-' || r.queue_shard, 'id', r.id || '.' || r.enqueue_no),
  'answer', (select e.payload -> 'content' from lanefold.thread_entry e
    where e.thread_id = $1 and e.run_id = $2 and e.role = 'assistant' order by e.seq desc limit 1)) as details
  from lanefold.run r join lanefold._run q on q.thread_id = r.thread_id and q.id = r.id where r.thread_id = $1 and r.id = $2`;

type DetailsRow = { context_ref: string; user_seq: string | null; details: RunDetails };

/** The details of a run, or undefined. */
export async function readRunDetails(db: Database, threadId: string, id: string): Promise<RunDetails | undefined> {
  if (db.settings.distributed) return readInTwo(db, threadId, id);
  const [row] = await db.query<DetailsRow>('get_run_details', selectDetails(config), [threadId, id]);
  return row?.details;
}

/** In two queries, because Citus does not allow a function that reads tables inside a query over tables. */
async function readInTwo(db: Database, threadId: string, id: string): Promise<RunDetails | undefined> {
  const [row] = await db.query<DetailsRow>('get_run_details_alone', selectDetails('null'), [threadId, id]);
  if (!row || row.user_seq === null) return row?.details;
  const fields = await callRows(db.query, 'lane_config_at', {
    threadId,
    contextRef: row.context_ref,
    upto: row.user_seq,
  });
  const config = fields.length > 0 ? Object.fromEntries(fields.map(({ field, value }) => [field, value])) : null;
  return { ...row.details, config };
}
