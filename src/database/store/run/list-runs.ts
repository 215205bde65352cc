import type { ListedRun, RunCost, RunFilter } from './types.ts';
import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import { cursorText, microsSql, pageByTime, readCursor, statementName, timestampSql, type ListPage } from '../rows.ts';
import { broadWindow, narrowed } from '../log/few-threads.ts';
import { FoundRuns } from './found-runs.ts';
import { childrenOfRun, marksOfRun, toMarks } from './marks-of.ts';
import { toRun, type RunRow } from './read-run.ts';
import { questionSql } from './question.ts';

/** A run as lists show it, without its cost. */
export type RecordedRun = Omit<ListedRun, keyof RunCost>;

type Listed = RunRow & { micros: string; question: string | null; marks: object[] | null; children: number };

const newest = 'order by created_at desc, thread_id desc, id desc';
const ids = (last: RecordedRun) => [last.threadId, last.id];

/** How many runs, newest first, one request examines for a filter that no index serves. */
const window = 20_000;

/** Runs, newest first: of one thread, or of all. */
export async function listRuns(db: Database, filter: RunFilter & { limit: number }): Promise<ListPage<RecordedRun>> {
  const cursor = readCursor(filter.after, 2);
  const found = new FoundRuns(db, await narrowed(db, filter));
  if (cursor) {
    const [at, threadId, id] = cursor.map((part) => found.indexed.value(part)) as [string, string, string];
    found.indexed.fixed('c', `(created_at, thread_id, id) < (${timestampSql(at)}, ${threadId}, ${id})`);
  }
  if (db.settings.distributed) return listEach(db, found, filter.limit);
  const bound = found.indexed.value(found.isIndexed ? filter.limit + 1 : found.isBroad ? broadWindow : window);
  const { also } = found;
  const rows = await db.query<Listed>(
    found.named('list_runs'),
    `select lanefold.read_run(n.thread_id, n.id) as run, ${beside('n')}, ${microsSql('n.created_at')} as micros
     from (select * from (${found.window(`${newest} limit ${bound}`)}) _run where ${also} ${newest} limit ${also.value(filter.limit + 1)}) n
     order by n.created_at desc, n.thread_id desc, n.id desc`,
    also.values,
  );
  const page = pageByTime(
    rows.map((row) => ({ ...toListed(row), micros: row.micros })),
    filter.limit,
    ids,
  );
  if (page.nextAfter !== null || also.key === '') return page;
  // the filter may match older runs beyond those examined
  const [end] = await db.query<{ micros: string; thread_id: string; id: string }>(
    statementName('list_runs_end', found.indexed.key),
    `select ${microsSql('created_at')} as micros, thread_id, id from (${found.keys}) k ${newest} offset ${bound} - 1 limit 1`,
    found.indexed.values,
  );
  return { ...page, nextAfter: end ? cursorText([end.micros, end.thread_id, end.id]) : null };
}

/** SQL: what a list shows of a run beside the run itself. */
const beside = (run: string): string =>
  `${questionSql(run, `${run}.thread_id`)} as question, ${marksOfRun(run)} as marks, ${childrenOfRun(run)} as children`;

const toListed = ({ question, marks, children, ...row }: Omit<Listed, 'micros'>): RecordedRun => ({
  ...toRun(row),
  question,
  marks: toMarks(marks),
  children,
});

/**
 * Reads the keys of the page from all nodes, then each run from its node. There is no window, because a subquery with a
 * limit cannot be pushed down to the nodes.
 */
async function listEach(db: Database, found: FoundRuns, limit: number): Promise<ListPage<RecordedRun>> {
  const { also } = found;
  const keys = await db.query<{ thread_id: string; id: string; micros: string }>(
    found.named('list_run_keys'),
    `select thread_id, id, ${microsSql('created_at')} as micros from (${found.window('')}) _run where ${also} ${newest} limit ${also.value(limit + 1)}`,
    also.values,
  );
  const { data: page, nextAfter } = pageByTime(keys, limit, (last) => [last.thread_id, last.id]);
  const runs = await eachThread(db, page, async (key) => {
    const run = (await call(db.query, 'read_run', { threadId: key.thread_id, runId: key.id })) as object | null;
    const [of] = await db.query<Omit<Listed, 'run' | 'micros'>>(
      'list_run',
      `select ${beside('r')} from lanefold._run r where r.thread_id = $1 and r.id = $2`,
      [key.thread_id, key.id],
    );
    return run && of ? [toListed({ run, ...of })] : [];
  });
  return { data: runs, nextAfter };
}
