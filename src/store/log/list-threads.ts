import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { tenantIs } from '../tenant/tenant-is.ts';
import { Conditions, cursorText, microsOf, momentOf, readCursor, type Page } from '../page.ts';
import type { RunStatus } from '../run/run.ts';

/** A thread as lists show it: its log and state are not part of it. */
export interface ThreadSummary {
  id: string;
  tenantId: string;
  /** Number of entries. */
  rev: number;
  activeRunId: string | null;
  metadata: JsonObject;
  parentThreadId: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** Of the active run, or else of the latest one; null without runs. */
  status: RunStatus | null;
  /** Number of runs, up to 1,000. */
  runs: number;
  /** Tokens of these runs. */
  totalTokens: number;
  /** The active run, or else the latest one. */
  lastRun: { id: string; agent: string; model: string; status: RunStatus; errorType: string | null; at: Date } | null;
  /** The first 200 characters of the message that began the latest run; null if it has not started. */
  lastMessage: string | null;
}

export interface ThreadFilter {
  tenantId?: string | undefined;
  /** Threads whose metadata contains this. */
  metadata?: JsonObject | undefined;
  /** Threads whose latest run has this agent. */
  agent?: string | undefined;
  /** Threads whose latest run has this status. */
  status?: RunStatus | undefined;
  /** Words in what users wrote, as in a web search: `refund -paid "order 42"`. */
  text?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** `nextAfter` of the page before. */
  after?: string | undefined;
  limit: number;
}

/** How many threads, newest first, one request looks at for a filter that no index serves. */
const window = 5_000;
const newest = 'order by created_at desc, id desc';

/** Threads, newest first. */
export async function listThreads(db: Database, filter: ThreadFilter): Promise<Page<ThreadSummary>> {
  // a node knows no limit over all of them, and no limit inside
  const { distributed } = db.settings;
  const where = candidates(db, filter);
  const indexed = where.key;
  const bound = distributed ? '' : where.value(window);
  const also = new Conditions();
  also.values.push(...where.values);
  also.add('A', 'last.agent = $', filter.agent).add('S', 'last.status = $', filter.status);
  const rows = await db.query<ThreadRow>(
    `list_threads_${indexed}_${also.key}`,
    `select t.id, t.tenant_id, t.rev, t.active_run_id, t.metadata, t.parent_thread_id, t.created_at, t.updated_at,
       ${microsOf('t.created_at')} as micros, s.runs, s.tokens, last.id as run_id, last.agent, last.model,
       last.status, last.error ->> 'type' as error_type, last.created_at as run_at,
       (select left(e.payload ->> 'content', 200) from lanefold._entry e
        where e.thread_id = t.id and e.seq = last.user_seq) as last_message
     from (select id, tenant_id, rev, active_run_id, metadata, parent_thread_id, created_at, updated_at
           from lanefold.thread where ${where} ${distributed ? '' : `${newest} limit ${bound}`}) t
     left join lateral (
       select count(*)::int as runs, sum((r.usage ->> 'total_tokens')::bigint)::float8 as tokens,
              (array_agg(r.id order by r.created_at desc, r.id desc))[1] as latest
       from (select k.id, k.created_at, k.usage from lanefold._run k
             where k.thread_id = t.id ${distributed ? '' : 'order by k.id desc limit 1000'}) r
     ) s on true
     left join lanefold._run last on last.thread_id = t.id and last.id = coalesce(t.active_run_id, s.latest)
     where ${also} order by t.created_at desc, t.id desc limit ${also.value(filter.limit + 1)}`,
    also.values,
  );
  const page = rows.slice(0, filter.limit);
  const data = page.map(toSummary);
  const last = page.at(-1);
  if (rows.length > filter.limit && last) return { data, nextAfter: cursorText([last.micros, last.id]) };
  if (also.key === '' || distributed) return { data, nextAfter: null };
  // the filter may match older threads, beyond those that were looked at
  const [end] = await db.query<{ micros: string; id: string }>(
    `list_threads_end_${indexed}`,
    `select ${microsOf('created_at')} as micros, id from lanefold.thread where ${where} ${newest}
     offset ${bound} - 1 limit 1`,
    where.values,
  );
  return { data, nextAfter: end ? cursorText([end.micros, end.id]) : null };
}

/** The conditions that indexes serve. */
function candidates(db: Database, filter: ThreadFilter): Conditions {
  const where = new Conditions();
  where
    .fixed('', 'erased_at is null')
    .add('t', tenantIs(db, '$'), filter.tenantId)
    .add('m', 'metadata @> $::jsonb', filter.metadata && JSON.stringify(filter.metadata))
    .add('f', 'created_at >= $', filter.createdAfter)
    .add('b', 'created_at < $', filter.createdBefore)
    .add(
      'x',
      `id in (select e.thread_id from lanefold._entry e where e.kind = 'ai_message' and e.role = 'user'
        and to_tsvector('simple', left(e.payload ->> 'content', 2000)) @@ websearch_to_tsquery('simple', $))`,
      filter.text,
    );
  const cursor = readCursor(filter.after, 1);
  if (cursor) {
    const [at, id] = cursor.map((part) => where.value(part)) as [string, string];
    where.fixed('c', `(created_at, id) < (${momentOf(at)}, ${id})`);
  }
  const runs = (condition: string) => `id in (select r.thread_id from lanefold._run r where ${condition})`;
  if (filter.status === 'failed') where.fixed('F', runs("r.error is not null and r.termination_reason <> 'cancelled'"));
  if (filter.status === 'queued' || filter.status === 'running' || filter.status === 'suspended')
    where.fixed('L', runs('r.active'));
  return where;
}

type ThreadRow = Record<string, never> & { id: string; micros: string };

const toSummary = (row: ThreadRow): ThreadSummary => ({
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
  lastRun:
    row['run_id'] === null
      ? null
      : {
          id: row['run_id']!,
          agent: row['agent']!,
          model: row['model']!,
          status: row['status']!,
          errorType: row['error_type']!,
          at: row['run_at']!,
        },
  lastMessage: row['last_message']!,
});
