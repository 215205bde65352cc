import type { ListedRun, RunCost, RunFilter, RunStatus } from './types.ts';
import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import { Conditions, cursorText, microsSql, pageByTime, readCursor, timestampSql, type ListPage } from '../rows.ts';
import { countMarks } from './read-marks.ts';
import { readRun, toRun, type RunRow } from './read-run.ts';
import { questionSql } from './question.ts';

/** A run as lists show it, without its cost. */
type RecordedRun = Omit<ListedRun, keyof RunCost>;

const newest = 'order by created_at desc, thread_id desc, id desc';

/** How many runs, newest first, one request examines for a filter that no index serves. */
const window = 20_000;

/** Runs, newest first: of one thread, or of all. */
export async function listRuns(db: Database, filter: RunFilter & { limit: number }): Promise<ListPage<RecordedRun>> {
  const { data, nextAfter } = await pageOfRuns(db, filter);
  const marked = data.map(({ threadId, id }) => ({ threadId, runIds: [id] }));
  const marks = filter.marks ? await countMarks(db, marked) : [];
  return { data: data.map((run, i) => ({ ...run, marks: marks[i] ?? null })), nextAfter };
}

type Found = Omit<RecordedRun, 'marks'>;

async function pageOfRuns(db: Database, filter: RunFilter & { limit: number }): Promise<ListPage<Found>> {
  const cursor = readCursor(filter.after, 2);
  const where = new Conditions();
  where
    .add('t', 'thread_id = $', filter.threadId)
    .add('f', 'created_at >= $', filter.createdAfter)
    .add('b', 'created_at < $', filter.createdBefore);
  if (cursor) {
    const [at, threadId, id] = cursor.map((part) => where.value(part)) as [string, string, string];
    where.fixed('c', `(created_at, thread_id, id) < (${timestampSql(at)}, ${threadId}, ${id})`);
  }
  if (filter.status) where.add('s', 'status = $', filter.status);
  if (filter.status) narrow(where, filter.status);
  const indexed = where.key;
  const window_ = db.settings.distributed ? '' : where.value(window);
  const also = new Conditions();
  also.values.push(...where.values);
  also
    .add('A', 'agent = $', filter.agent)
    .add('M', 'model = $', filter.model)
    .add('E', "error ->> 'type' = $", filter.errorType)
    .add('U', "(usage ->> 'total_tokens')::bigint >= $", filter.minTokens);
  if (db.settings.distributed) return listEach(db, where, also, filter.limit);
  const rows = await db.query<RunRow & { micros: string; question: string | null }>(
    `list_runs_${indexed}_${also.key}`,
    `select lanefold.read_run(n.thread_id, n.id) as run, ${questionSql('n', 'n.thread_id')} as question, ${microsSql('n.created_at')} as micros
     from (select thread_id, id, created_at, input, user_seq from (
             select thread_id, id, created_at, agent, model, error, usage, input, user_seq from lanefold._run
             where ${where} ${newest} limit ${window_}) w
           where ${also} ${newest} limit ${also.value(filter.limit + 1)}) n
     order by n.created_at desc, n.thread_id desc, n.id desc`,
    also.values,
  );
  const found = rows.slice(0, filter.limit).map((row) => ({
    run: { ...toRun(row), question: row.question },
    micros: row.micros,
  }));
  const data = found.map(({ run }) => run);
  const last = found.at(-1);
  if (rows.length > filter.limit && last)
    return { data, nextAfter: cursorText([last.micros, last.run.threadId, last.run.id]) };
  if (also.key === '') return { data, nextAfter: null };
  // the filter may match older runs beyond those examined
  const [end] = await db.query<{ micros: string; thread_id: string; id: string }>(
    `list_runs_end_${indexed}`,
    `select ${microsSql('created_at')} as micros, thread_id, id from lanefold._run
     where ${where} ${newest} offset ${window_} - 1 limit 1`,
    where.values,
  );
  return { data, nextAfter: end ? cursorText([end.micros, end.thread_id, end.id]) : null };
}

/**
 * Reads the keys of the page from all nodes, then each run from its node. There is no window, because a subquery with a
 * limit cannot be pushed down to the nodes.
 */
async function listEach(db: Database, where: Conditions, also: Conditions, limit: number): Promise<ListPage<Found>> {
  const keys = await db.query<{ thread_id: string; id: string; micros: string }>(
    `list_run_keys_${where.key}_${also.key}`,
    `select thread_id, id, ${microsSql('created_at')} as micros from lanefold._run
     where ${where} and ${also} ${newest} limit ${also.value(limit + 1)}`,
    also.values,
  );
  const { data: page, nextAfter } = pageByTime(keys, limit, (last) => [last.thread_id, last.id]);
  const runs = await eachThread(db, page, async (key) => {
    const run = await readRun(db, key.thread_id, key.id);
    const [of] = await db.query<{ question: string | null }>(
      'read_question',
      `select ${questionSql('r', '$1')} as question from lanefold._run r where r.thread_id = $1 and r.id = $2`,
      [key.thread_id, key.id],
    );
    return run ? [{ ...run, question: of?.question ?? null }] : [];
  });
  return { data: runs, nextAfter };
}

/**
 * Narrows a status to the small indexes of unfinished and failed runs. No index has the status itself, because it would
 * have to change too often.
 */
function narrow(where: Conditions, status: RunStatus): void {
  if (status === 'waiting') where.fixed('w', 'not active and finished_at is null');
  else if (status === 'failed') where.fixed('e', "error is not null and termination_reason <> 'cancelled'");
  else if (status !== 'completed' && status !== 'cancelled') where.fixed('l', 'active');
}
