import type { RunMarkCount } from '../trace/types.ts';
import type { Database } from '../../postgres/pool.ts';
import { eachThread } from '../each-thread.ts';
import { Conditions, cursorText, microsSql, readCursor, type ListPage } from '../rows.ts';
import { countMarks } from '../run/read-marks.ts';
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

/** How many runs of a thread are searched for marks. */
const markedRuns = 10;

/** Threads, newest first or most recently asked first. */
export async function listThreads(
  db: Database,
  filter: ThreadFilter & { limit: number },
): Promise<ListPage<SpentSummary>> {
  const { distributed } = db.settings;
  const found = inOrder(db, filter);
  const also = new Conditions();
  also.values.push(...found.values);
  also.add('A', 'last.agent = $', filter.agent).add('S', 'last.status = $', filter.status);
  const rows = await db.query<ThreadRow>(
    `list_threads_${found.key}_${also.key}`,
    `select t.id, t.tenant_id, t.rev, t.active_run_id, t.metadata, t.parent_thread_id, t.created_at, t.updated_at,
       ${microsSql('t.sort_at')} as micros, s.runs, s.tokens, last.id as run_id, last.agent, last.model,
       last.status, s.newest, last.error ->> 'type' as error_type, last.created_at as run_at, last.start_at,
       ${questionSql('last', 't.id')} as last_message, ${distributed ? 'null' : spentIn(countedRuns('t.id', distributed))} as spent
     from (${found.sql}) t
     left join lateral (
       select count(*)::int as runs, sum((r.usage ->> 'total_tokens')::bigint)::float8 as tokens,
              (array_agg(r.id order by r.created_at desc, r.id desc))[:${markedRuns}] as newest
       from (${countedRuns('t.id', distributed)}) r
     ) s on true
     left join lanefold._run last on last.thread_id = t.id and last.id = coalesce(t.active_run_id, s.newest[1])
     where ${also} order by t.sort_at desc, t.id desc limit ${also.value(filter.limit + 1)}`,
    also.values,
  );
  const page = rows.slice(0, filter.limit);
  const marked = page.map((row) => ({ threadId: row.id, runIds: row['newest'] ?? [] }));
  const marks = filter.marks ? await countMarks(db, marked) : [];
  // a sum per thread inside this statement cannot be pushed down to the nodes
  const spent = distributed
    ? await eachThread(db, marked, async ({ threadId }) => [[threadId, await readThreadSpent(db, threadId)] as const])
    : [];
  const spentOf = new Map(spent);
  const data = page.map((row, i) => toSummary(row, marks[i] ?? null, spentOf.get(row.id) ?? toSpent(row['spent']!)));
  const last = page.at(-1);
  if (rows.length > filter.limit && last) return { data, nextAfter: cursorText([last.micros, last.id]) };
  if (!found.end || (also.key === '' && filter.order !== 'asked')) return { data, nextAfter: null };
  // there may be older threads beyond those examined
  const [end] = await db.query<{ micros: string; id: string }>(
    `list_threads_end_${found.key}`,
    `select ${microsSql('sort_at')} as micros, id from (${found.end.sql}) e`,
    found.end.values,
  );
  return { data, nextAfter: end ? cursorText([end.micros, end.id]) : null };
}

function inOrder(db: Database, filter: ThreadFilter) {
  const cursor = readCursor(filter.after, 1);
  if (filter.order !== 'asked' || db.settings.distributed) return byCreation(db, candidates(db, filter), cursor);
  const tenantId = filter.tenantId ?? db.tenant;
  return tenantId === undefined
    ? byLastRun(candidates(db, filter), cursor)
    : byLastRunOfTenant(candidates(db, { ...filter, tenantId }), cursor);
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
  const runs = (condition: string) => `id in (select r.thread_id from lanefold._run r where ${condition})`;
  if (filter.status === 'failed') where.fixed('F', runs("r.error is not null and r.termination_reason <> 'cancelled'"));
  if (filter.status === 'queued' || filter.status === 'running' || filter.status === 'suspended')
    where.fixed('L', runs('r.active'));
  return where;
}

type ThreadRow = Record<string, never> & { id: string; micros: string };

const toSummary = (row: ThreadRow, marks: RunMarkCount[] | null, spent: SpentByModel[]): SpentSummary => ({
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
          at: row['run_at']!,
          startAt: row['start_at']!,
        },
  lastMessage: row['last_message']!,
  marks,
});
