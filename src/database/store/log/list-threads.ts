import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import { Conditions, cursorText, microsSql, readCursor, statementName, type ListPage } from '../rows.ts';
import { childrenOfThread, marksOfThread, toMarks } from '../run/marks-of.ts';
import { waiting } from '../run/found-runs.ts';
import { broadWindow, narrowed, type Narrowed } from './few-threads.ts';
import { containedIn, contains, wrote, wroteIn } from './of-threads.ts';
import { byCreation, byLastRun, byLastRunOfTenant } from './threads-in-order.ts';
import { spentIn, toSpent, type SpentByModel } from '../run/spent.ts';
import { countedRuns, readThreadSpent } from './read-thread.ts';
import type { RecordedSummary, ThreadFilter } from './types.ts';
import { tenantIs } from '../tenant/tenant-settings.ts';
import { questionSql } from '../run/question.ts';

/** A thread as lists show it, and the tokens of its runs by model. */
interface SpentSummary extends RecordedSummary {
  spent: SpentByModel[];
}

/** Threads, newest first or most recently asked first. */
export async function listThreads(
  db: Database,
  filter: ThreadFilter & { limit: number },
): Promise<ListPage<SpentSummary>> {
  const { distributed } = db.settings;
  const sought = await narrowed(db, filter);
  const found = inOrder(db, sought, await rareThreads(db, filter));
  const also = new Conditions();
  also.values.push(...found.values);
  also
    .add('A', 'last.agent = $', filter.agent)
    .add('V', 'last.agent_version = $', filter.version)
    .add('S', 'last.status = $', filter.status)
    .add('X', wroteIn('t.id'), sought.broad?.text)
    .add('M', containedIn('t.id'), sought.broad?.metadata && JSON.stringify(sought.broad.metadata));
  const sorted = 'order by t.sort_at desc, t.id desc';
  const bound = also.value(filter.limit + 1);
  // a window of threads is examined for a filter, so what a list shows beside is read of its page alone; a node supports no limit
  // in a subquery
  const [from, last] = distributed
    ? [`(${found.sql}) t ${counted(true)} ${lastCounted} where ${also}`, 'last']
    : [
        `(select t.*, last.* from (${found.sql}) t ${lastRun} where ${also} ${sorted} limit ${bound}) t ${counted(false)}`,
        't',
      ];
  const rows = await db.query<ThreadRow>(
    statementName('list_threads', found.key, also.key),
    `select t.id, t.tenant_id, t.rev, t.active_run_id, t.metadata, t.parent_thread_id, t.created_at, t.updated_at,
       ${microsSql('t.sort_at')} as micros, s.runs, s.tokens, ${shownOfRun.map((name) => `${last}.${name}`).join(', ')},
       ${last}.error ->> 'type' as error_type, ${questionSql(last, 't.id')} as last_message,
       ${distributed ? 'null' : spentIn(countedRuns('t.id', distributed))} as spent,
       ${distributed ? 'null' : marksOfThread('t.id')} as marks, ${distributed ? '0' : childrenOfThread('t.id')} as children
     from ${from} ${sorted} limit ${bound}`,
    also.values,
  );
  const page = rows.slice(0, filter.limit);
  // a sum per thread inside this statement cannot be pushed down to the nodes
  const data = distributed
    ? await eachThread(
        db,
        page.map((row) => ({ threadId: row.id, row })),
        async ({ threadId, row }) => [toSummary(row, await readBeside(db, threadId))],
      )
    : page.map((row) =>
        toSummary(row, { spent: toSpent(row['spent']!), marks: row['marks']!, children: row['children']! }),
      );
  const end = page.at(-1);
  if (rows.length > filter.limit && end) return { data, nextAfter: cursorText([end.micros, end.id]) };
  if (!found.end || (also.key === '' && filter.order !== 'asked')) return { data, nextAfter: null };
  // there may be older threads beyond those examined
  const [examined] = await db.query<{ micros: string; id: string }>(
    statementName('list_threads_end', found.key),
    `select ${microsSql('sort_at')} as micros, id from (${found.end.sql}) e`,
    found.end.values,
  );
  return { data, nextAfter: examined ? cursorText([examined.micros, examined.id]) : null };
}

interface Beside {
  spent: SpentByModel[];
  marks: object[] | null;
  children: number;
}

/** What lists show of the active or newest run of a thread, beside its error and its question. */
const shownOfRun = ['run_id', 'agent', 'model', 'status', 'answered', 'termination_reason', 'run_at', 'start_at'];
const ofRun = `r.id as run_id, r.agent, r.agent_version, r.model, r.status, r.answered, r.termination_reason, r.created_at as run_at,
  r.start_at, r.error, r.input, r.options, r.user_seq`;

/** SQL: that run of the thread `t`. The limit keeps the planner from reading all runs of a version. */
const lastRun = `left join lateral (
  select ${ofRun} from lanefold._run r
  where r.thread_id = t.id and r.id = coalesce(t.active_run_id, (
    select n.id from (${countedRuns('t.id', false)}) n order by n.created_at desc, n.id desc limit 1))
  limit 1) last on true`;

/** SQL: the same run after `counted`, which has the newest one: a node supports no limit in a subquery. */
const lastCounted = `left join (select r.thread_id, ${ofRun} from lanefold._run r) last
  on last.thread_id = t.id and last.run_id = coalesce(t.active_run_id, s.newest)`;

/** SQL: the number of runs and tokens of the thread `t`. */
const counted = (distributed: boolean): string => `left join lateral (
  select count(*)::int as runs, sum((r.usage ->> 'total_tokens')::bigint)::float8 as tokens${
    distributed ? ', (array_agg(r.id order by r.created_at desc, r.id desc))[1] as newest' : ''
  }
  from (${countedRuns('t.id', distributed)}) r) s on true`;

/** What a statement over all nodes cannot say of a thread. */
async function readBeside(db: Database, id: string): Promise<Beside> {
  const spent = await readThreadSpent(db, id);
  const [of] = await db.query<Pick<Beside, 'marks' | 'children'>>(
    'thread_beside',
    `select ${marksOfThread('$1')} as marks, ${childrenOfThread('$1')} as children`,
    [id],
  );
  return { spent, ...of! };
}

const rare = 1_000;

/**
 * The threads with a rare mark; undefined if the filter names none, or many runs have it. A plan for any mark would walk through
 * all threads for the few.
 */
async function rareThreads(db: Database, { mark }: ThreadFilter): Promise<string[] | undefined> {
  if (mark === undefined) return undefined;
  const text = `select thread_id from lanefold._run_mark where kind = $1 limit ${rare + 1}`;
  const rows = await db.query<{ thread_id: string }>('marked_threads', text, [mark]);
  return rows.length > rare ? undefined : [...new Set(rows.map((row) => row.thread_id))];
}

function inOrder(db: Database, filter: Narrowed<ThreadFilter> & { limit: number }, few: readonly string[] | undefined) {
  const cursor = readCursor(filter.after, 1);
  const found = (more: Pick<ThreadFilter, 'tenantId'> = {}) => candidates(db, { ...filter, ...more }, few);
  if (filter.order !== 'asked' || db.settings.distributed) {
    // what no index finds is looked for in a window
    const { agent, version, status, broad, limit } = filter;
    if (broad?.text !== undefined || broad?.metadata !== undefined) return byCreation(db, found(), cursor, broadWindow);
    const examines = agent ?? version ?? status;
    return byCreation(db, found(), cursor, examines === undefined ? limit + 1 : undefined);
  }
  const tenantId = filter.tenantId ?? db.tenant;
  return tenantId === undefined ? byLastRun(found(), cursor) : byLastRunOfTenant(found({ tenantId }), cursor);
}

/** The conditions that indexes serve. */
function candidates(db: Database, filter: Narrowed<ThreadFilter>, few: readonly string[] | undefined): Conditions {
  const where = new Conditions();
  where
    .fixed('', 'erased_at is null')
    .addVaried('t', tenantIs(db, '$'), filter.tenantId)
    .addVaried('m', contains, filter.metadata && JSON.stringify(filter.metadata))
    .add('f', 'created_at >= $', filter.createdAfter)
    .add('b', 'created_at < $', filter.createdBefore)
    .addVaried('x', `id in (${wrote})`, filter.text);
  const runs = (condition: string) => `id in (select r.thread_id from lanefold._run r where ${condition})`;
  if (filter.status === 'failed') where.fixed('F', runs("r.error is not null and r.termination_reason <> 'cancelled'"));
  if (filter.status === 'queued' || filter.status === 'running' || filter.status === 'suspended')
    where.fixed('L', runs('r.active'));
  if (filter.waitingFor)
    where.fixed(
      `(${filter.waitingFor})`,
      `id in (select _run.thread_id from lanefold._run where ${waiting[filter.waitingFor]})`,
    );
  where.add('N', 'id = any ($)', filter.among);
  if (few) where.add('K', 'id = any ($)', few);
  else where.add('k', 'id in (select m.thread_id from lanefold._run_mark m where m.kind = $)', filter.mark);
  where.add('P', 'id in (select w.child_thread_id from lanefold._wait w where w.thread_id = $)', filter.startedBy);
  if (filter.children === false)
    where.fixed('C', 'not exists (select from lanefold._child_run c where c.thread_id = thread.id)');
  return where;
}

type ThreadRow = Record<string, never> & { id: string; micros: string };

const toSummary = (row: ThreadRow, { spent, marks, children }: Beside): SpentSummary => ({
  id: row.id,
  tenantId: row['tenant_id']!,
  rev: Number(row['rev']),
  activeRunId: row['active_run_id']!,
  metadata: row['metadata']!,
  parentThreadId: row['parent_thread_id']!,
  createdAt: row['created_at']!,
  updatedAt: row['updated_at']!,
  status: row['status']!,
  runs: row['runs']!,
  totalTokens: row['tokens'] ?? 0,
  spent,
  lastRun:
    row['run_id'] === null
      ? null
      : {
          id: row['run_id']!,
          agent: row['agent']!,
          model: row['model']!,
          status: row['status']!,
          errorType: row['error_type']!,
          answered: row['answered']!,
          terminationReason: row['termination_reason']!,
          at: row['run_at']!,
          startAt: row['start_at']!,
        },
  lastMessage: row['last_message']!,
  marks: toMarks(marks),
  children,
});
