import type { JsonObject } from '../../../agent/context/message.ts';
import { questionSeqSql } from './question.ts';
import type { Database } from '../../postgres/pool.ts';

/** What a run was asked, as it was accepted. */
export interface StoredRequest {
  agent: string;
  strategy: string;
  model: string;
  context_ref: string;
  /** The lane that has the question: another one if the run answers the question of another run. */
  asked_in: string;
  options: JsonObject | null;
  /** The user message: `{content, refs?}`; null if it is no longer stored. */
  input: JsonObject | null;
  /** The entry of the message, maybe of another run; null before the run has begun. */
  user_seq: number | null;
  ended: boolean;
}

/** The request of a run, or undefined if it does not exist. Its message is in the log from the run's start on. */
export async function readRequest(db: Database, threadId: string, id: string): Promise<StoredRequest | undefined> {
  const [row] = await db.query<{ request: StoredRequest }>(
    'read_request',
    `select json_build_object('agent', r.agent, 'strategy', r.strategy, 'model', r.model,
       'context_ref', r.context_ref,
       'asked_in', coalesce(e.context_ref, r.context_ref), 'options', r.options, 'user_seq', e.seq, 'ended', r.finished_at is not null,
       'input', coalesce(r.input::json, case when e.seq is not null then
         json_build_object('content', e.payload -> 'content', 'refs', e.refs) end)) as request
     from lanefold._run r left join lanefold._entry e on e.thread_id = r.thread_id and e.seq = ${questionSeqSql('r')}
     where r.thread_id = $1 and r.id = $2`,
    [threadId, id],
  );
  return row?.request;
}
