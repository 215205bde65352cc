import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';

/** What the log and the trace know of one answered model call. */
export interface CallRecord {
  run_id: string;
  agent: string;
  strategy: string;
  model: string;
  context_ref: string;
  /** The entry of the answer; the call's context is the lane's up to the entry before it. */
  seq: number;
  payload: JsonObject;
  refs: JsonObject;
  at: string;
  /** The trace of the iteration; null once it was dropped. */
  events: { kind: string; data: JsonObject; at: string }[] | null;
  /** The previous and the next call on the lane. */
  previous: string | null;
  /** The entry of the previous call's answer. */
  previous_seq: number | null;
  /** The model of the previous call, and whether it stood in for another one. */
  previous_model: string | null;
  previous_fell_back: boolean | null;
  next: string | null;
}

/** How many entries after a run's user message are searched for the answer. */
const searched = 20_000;

const neighbour = (comparison: string, order: string, what = `n.refs ->> 'llm_call_id'`) => `
  (select ${what} from lanefold._entry n
   where n.thread_id = e.thread_id and n.context_ref = e.context_ref and n.kind = 'ai_message' and n.role = 'assistant'
     and n.seq ${comparison} e.seq and n.refs ? 'llm_call_id' order by n.seq ${order} limit 1)`;

const modelOfEntry = `coalesce(n.refs ->> 'model', (
    select p.model from lanefold.run p where p.thread_id = n.thread_id and p.id = n.run_id))`;

/**
 * One answered model call, or undefined.
 *
 * No index on calls is needed: the run knows its user message, and its answers follow soon after it.
 */
export async function readCall(db: Database, threadId: string, callId: string): Promise<CallRecord | undefined> {
  const runId = callId.slice(0, callId.lastIndexOf('.'));
  const [row] = await db.query<{ call: CallRecord }>(
    'get_call',
    `select json_build_object('run_id', r.id, 'agent', r.agent, 'strategy', r.strategy, 'model', coalesce(e.refs ->> 'model', r.model),
       'context_ref', e.context_ref, 'seq', e.seq, 'payload', e.payload, 'refs', e.refs, 'at', e.at,
       'events', (select json_agg(json_build_object('kind', v.kind, 'data', v.data, 'at', v.at) order by v.event_seq)
         from lanefold.run_event v where v.thread_id = r.thread_id and v.run_id = r.id
           and v.iteration = (e.refs -> 'iteration')::int and v.kind in ('llm_started', 'llm_completed', 'llm_retry', 'llm_lost')),
       'previous', ${neighbour('<', 'desc')}, 'previous_seq', ${neighbour('<', 'desc', 'n.seq')},
       'previous_model', ${neighbour('<', 'desc', modelOfEntry)}, 'previous_fell_back', ${neighbour('<', 'desc', `n.refs ? 'fallback'`)},
       'next', ${neighbour('>', 'asc')}) as call
     from lanefold.run r
     cross join lateral (
       select s.thread_id, s.seq, s.context_ref, s.payload, s.refs, s.at from (
         select t.thread_id, t.seq, t.context_ref, t.payload, t.refs, t.at, t.run_id, t.role from lanefold.thread_entry t
         where t.thread_id = r.thread_id and t.seq > coalesce(r.user_seq, -1) order by t.seq limit ${searched}) s
       where s.run_id = r.id and s.role = 'assistant' and s.refs ->> 'llm_call_id' = $3 limit 1) e
     where r.thread_id = $1 and r.id = $2`,
    [threadId, runId, callId],
  );
  return row?.call;
}
