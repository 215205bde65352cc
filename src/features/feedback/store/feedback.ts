import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { call } from '../../../database/store/call.ts';
import { repeatIfLost } from '../../../database/store/call-function.ts';
import {
  Conditions,
  fromRow,
  microsSql,
  pageByTime,
  readCursor,
  readRows,
  timestampSql,
  type ListPage,
} from '../../../database/store/rows.ts';
import type { FeedbackReceipt, GivenFeedback, NewFeedback } from '../types.ts';

interface FeedbackFilter {
  after?: string;
  limit: number;
  threadId?: string;
  runId?: string;
  agent?: string;
  rating?: 'up' | 'down';
  latest?: boolean;
}

/** See `give_feedback`. */
export async function giveFeedback(
  db: Database,
  threadId: string,
  given: NewFeedback & { opHash?: string | undefined },
): Promise<FeedbackReceipt> {
  const give = () => call(db.queryLocking, 'give_feedback', { threadId, p: snakeKeys(omitUndefined(given)) });
  return fromRow((await (given.opId === undefined ? give() : repeatIfLost(give))) as object);
}

const columns = `thread_id, seq::float8, answer_seq::float8, run_id, context_ref, rating, comment, by, at, latest, agent, agent_version`;

/** The newest first. */
export async function listFeedback(
  db: Database,
  { after, limit, threadId, runId, agent, rating, latest }: FeedbackFilter,
): Promise<ListPage<GivenFeedback>> {
  const where = new Conditions();
  where.add('t', 'thread_id = $', threadId).add('r', 'run_id = $', runId).add('a', 'agent = $', agent);
  where.add('u', 'rating = $', rating).add('l', 'latest = $', latest);
  const cursor = readCursor(after, 2);
  if (cursor) {
    const [at, thread, seq] = cursor.map((part) => where.value(part)) as [string, string, string];
    where.fixed('c', `(at, thread_id, seq) < (${timestampSql(at)}, ${thread}, ${seq}::bigint)`);
  }
  const rows = await readRows<GivenFeedback & { micros: string }>(
    db,
    `feedback_${where.key}`,
    `select ${columns}, ${microsSql('at')} as micros from lanefold.feedback where ${where}
     order by at desc, thread_id desc, lanefold.feedback.seq desc limit ${where.value(limit + 1)}`,
    where.values,
  );
  return pageByTime(rows, limit, (last) => [last.threadId, String(last.seq)]);
}
