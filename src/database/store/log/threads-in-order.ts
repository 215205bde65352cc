import type { Database } from '../../postgres/pool.ts';
import { Conditions, timestampSql, type Cursor } from '../rows.ts';

/** The part of a statement that yields threads in order; a list takes those it needs. */
export interface ThreadsInOrder {
  /** A query for the columns of a list and `sort_at`, sorted by it and by `id`, both descending. */
  sql: string;
  /** Tells prepared statements apart. */
  key: string;
  values: unknown[];
  /** A query for `sort_at` and `id` of where the statement stopped, if it did not reach the last thread. */
  end?: { sql: string; values: unknown[] };
}

/** How many threads, or moments of threads, one request examines. */
const window = 5_000;
const columns = 'id, tenant_id, rev, active_run_id, metadata, parent_thread_id, created_at, updated_at';

/** Threads by creation, the first `most`. `where` has only conditions that indexes serve. */
export function byCreation(db: Database, where: Conditions, cursor: Cursor | undefined, most = window): ThreadsInOrder {
  if (cursor) {
    const [at, id] = cursor.map((part) => where.value(part)) as [string, string];
    where.fixed('c', `(created_at, id) < (${timestampSql(at)}, ${id})`);
  }
  const { key, values } = where;
  // a node supports neither a limit over all threads nor one in a subquery
  if (db.settings.distributed)
    return { key, values, sql: `select ${columns}, created_at as sort_at from lanefold.thread where ${where}` };
  const bound = where.value(most);
  const sorted = 'order by created_at desc, id desc';
  return {
    key,
    values,
    sql: `select ${columns}, created_at as sort_at from lanefold.thread where ${where} ${sorted} limit ${bound}`,
    end: {
      sql: `select created_at as sort_at, id from lanefold.thread where ${where} ${sorted} offset ${bound} - 1 limit 1`,
      values,
    },
  };
}

/** The newest run of a thread: ids of runs sort by time, so the primary key finds it. */
const newestRun = (what: string, threadId: string) =>
  `select n.${what} from lanefold._run n where n.thread_id = ${threadId} order by n.id desc limit 1`;

/**
 * Threads, most recently asked first: by when the newest run was accepted, or the thread created if it has none. No
 * index has this order, because every run would have to move its thread in it. Instead, this walks back through the
 * runs and the creations of threads, which have indexes by time anyway, and skips runs that are not the newest of their
 * thread.
 */
export function byLastRun(where: Conditions, cursor: Cursor | undefined): ThreadsInOrder {
  // a thread and its first run may share a moment: the walk then ends with both
  const moments = (values: Conditions) => {
    const [at, id] = (cursor ?? []).map((part) => values.value(part));
    const earlier = (column: string) => (cursor ? `where (created_at, ${column}) < (${timestampSql(at!)}, ${id})` : '');
    return `select thread_id as id, created_at as sort_at, id as run_id from lanefold._run ${earlier('thread_id')}
      union all select id, created_at, null::text collate "C" from lanefold.thread ${earlier('id')}
      order by sort_at desc, id desc fetch first (${values.value(window)}) rows with ties`;
  };
  const end = new Conditions();
  const endSql = `select sort_at, id from (${moments(end)}) m offset ${end.value(window)} - 1 limit 1`;
  return {
    key: `r${where.key}${cursor ? 'c' : ''}`,
    sql: `select ${columns}, sort_at from (${moments(where)}) m join (select ${columns} from lanefold.thread where ${where}) t using (id)
      where m.run_id is not distinct from (${newestRun('id', 'm.id')})`,
    values: where.values,
    end: { sql: endSql, values: end.values },
  };
}

/** The same order for one tenant. No index has its runs by time, so this examines its newest 5,000 threads at most. */
export function byLastRunOfTenant(where: Conditions, cursor: Cursor | undefined): ThreadsInOrder {
  const newest = `select ${columns} from lanefold.thread where ${where} order by created_at desc, id desc limit ${where.value(window)}`;
  const [at, id] = (cursor ?? []).map((part) => where.value(part));
  return {
    key: `o${where.key}${cursor ? 'c' : ''}`,
    sql: `select ${columns}, sort_at from (select ${columns}, coalesce((${newestRun('created_at', 't.id')}), t.created_at) as sort_at from (${newest}) t) s
      ${cursor ? `where (sort_at, id) < (${timestampSql(at!)}, ${id})` : ''} order by sort_at desc, id desc`,
    values: where.values,
  };
}
