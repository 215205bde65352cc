import { call } from '../../../database/store/call.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { Score } from '../../evals/store/types.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  microsSql,
  pageByTime,
  readCursor,
  readRows,
  timestampSql,
  type ListPage,
} from '../../../database/store/rows.ts';
import type { RunScore } from '../types.ts';
import type { TakenMonitor, MonitorCursor } from './monitors.ts';

/** A score to store; see `store_run_score`. */
export interface NewRunScore {
  thread_id: string;
  run_id: string;
  agent: string;
  agent_version: string | null;
  ended_at: string;
  status: 'waiting' | 'done';
  score: number | null;
  scores: Json;
  judge?: { thread_id: string; run_id: string };
}

/** A run that waits for its judge. */
export interface WaitingScore extends Pick<
  NewRunScore,
  'thread_id' | 'run_id' | 'agent' | 'agent_version' | 'ended_at'
> {
  scores: Score[];
  judge_thread_id: string;
  judge_run_id: string;
}

type Monitor = Pick<TakenMonitor, 'tenant_id' | 'name'>;

export async function storeScore(db: Database, { tenant_id, name }: Monitor, score: NewRunScore): Promise<void> {
  await call(db.query, 'store_run_score', { tenant: tenant_id, name, p: score });
}

/** Notes the thread of a judge that is about to be asked; see `plan_judge`. */
export async function planJudge(
  db: Database,
  { tenant_id, name }: Monitor,
  { threadId, id }: { threadId: string; id: string },
  holdMs: number,
): Promise<void> {
  await call(db.query, 'plan_judge', { tenant: tenant_id, name, thread: threadId, run: id, holdMs });
}

/** The runs that wait for their judge, in the order of their ids. @param after the last one of the page before */
export const waitingScores = (
  db: Database,
  { tenant_id, name }: Monitor,
  after: { thread_id: string; run_id: string } | undefined,
  limit: number,
): Promise<WaitingScore[]> =>
  db.query<WaitingScore & Record<string, unknown>>(
    'waiting_run_scores',
    `select thread_id, run_id, agent, agent_version, to_jsonb(ended_at) #>> '{}' as ended_at, scores, judge_thread_id, judge_run_id
     from lanefold._run_score
     where tenant_id = $1 and monitor = $2 and status = 'waiting' and (thread_id, run_id) > ($3, $4) order by thread_id, run_id limit $5`,
    [tenant_id, name, after?.thread_id ?? '', after?.run_id ?? '', limit],
  );

/** A page of the scores of a monitor, the newest first. */
export async function listScores(
  db: Database,
  tenant: string,
  name: string,
  { after, limit, below }: { after?: string | undefined; limit: number; below?: number | undefined },
): Promise<ListPage<RunScore>> {
  const [micros = null, threadId = null, runId = null] = readCursor(after, 2) ?? [];
  const rows = await readRows<RunScore & { micros: string }>(
    db,
    'run_scores',
    `select thread_id, run_id, agent, agent_version, status, score, scores, ended_at, scored_at, ${microsSql('scored_at')} as micros
     from lanefold._run_score
     where tenant_id = $1 and monitor = $2 and ($3::text is null or (scored_at, thread_id, run_id) < (${timestampSql('$3')}, $4, $5))
       and ($6::float8 is null or score < $6::float8)
     order by scored_at desc, thread_id desc, run_id desc limit $7`,
    [tenant, name, micros, threadId, runId, below ?? null, limit + 1],
  );
  return pageByTime(rows, limit, (last) => [last.threadId, last.runId]);
}

/** Deletes old scores; see `drop_run_scores`. Returns how many. */
export async function dropScores(db: Database, days: number, limit: number): Promise<number> {
  return await call(db.query, 'drop_run_scores', { days, limit });
}

/** A run that has ended, and is in the sample. */
export interface SampledRun {
  thread_id: string;
  id: string;
  /** With microseconds. */
  ended_at: string;
}

/** The share of a run: the same for all monitors, so that a larger sample includes a smaller one. 2^32 = 4,294,967,296. */
const share = `('x' || left(md5(r.thread_id || ' ' || r.id), 8))::bit(32)::bigint::float8 / 4294967296.0::float8`;

/**
 * The next runs in the sample of a monitor, in the order in which they ended: completed and failed ones, without those of evals and
 * judges, and without compactions. The index of retention has the runs in this order.
 */
export async function nextRuns(
  db: Database,
  { tenant_id, queue_prefix, agents, sample, until }: TakenMonitor,
  after: MonitorCursor,
  limit: number,
): Promise<{ runs: SampledRun[]; next: MonitorCursor | undefined }> {
  const found = await db.query<SampledRun & Record<string, unknown>>(
    'next_monitored_runs',
    `select r.thread_id, r.id, to_jsonb(r.finished_at) #>> '{}' as ended_at from lanefold._run r
     where r.finished_at is not null and r.trace_dropped_at is null and r.finished_at >= $1 and r.finished_at <= $2
       and (r.finished_at > $1 or (r.thread_id, r.id) > ($3, $4)) and r.tenant_id = any ($5) and ($6::text is null or r.queue_prefix = $6::text)
       and r.status in ('completed', 'failed') and not coalesce(r.options ? 'compaction', false) and (cardinality($7::text[]) = 0 or r.agent = any ($7::text[])) and ${share} < $8::float8
     order by r.finished_at, r.thread_id, r.id limit $9`,
    [after.read_to, until, after.thread_id, after.run_id, [tenant_id], queue_prefix, agents, sample, limit],
  );
  const last = found.at(-1);
  const full = found.length === limit && last;
  const next = full ? { read_to: last.ended_at, thread_id: last.thread_id, run_id: last.id } : undefined;
  const made = await threadsOfEvals(
    db,
    tenant_id,
    found.map(({ thread_id }) => thread_id),
  );
  return { runs: found.filter(({ thread_id }) => !made.has(thread_id)), next };
}

async function threadsOfEvals(db: Database, tenant: string, threads: readonly string[]): Promise<Set<string>> {
  if (threads.length === 0) return new Set();
  const rows = await db.query<{ thread_id: string }>(
    'threads_of_evals',
    `select thread_id from lanefold._eval_thread where tenant_id = $1 and thread_id = any ($2)`,
    [tenant, [...threads]],
  );
  return new Set(rows.map(({ thread_id }) => thread_id));
}
