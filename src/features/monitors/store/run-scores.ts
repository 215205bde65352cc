import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { Score } from '../../evals/item.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { cursorText, microsSql, readCursor, timestampSql, type ListPage } from '../../../database/store/page.ts';
import type { RunScore } from '../types.ts';
import type { TakenMonitor } from './take-monitors.ts';

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
  const text = 'select s.stored from lanefold.store_run_score($1, $2, $3) as s (stored)';
  await db.query('store_run_score', text, [tenant_id, name, score as unknown as JsonObject]);
}

/** Notes the thread of a judge that is about to be asked; see `plan_judge`. */
export async function planJudge(
  db: Database,
  { tenant_id, name }: Monitor,
  { threadId, id }: { threadId: string; id: string },
  holdMs: number,
): Promise<void> {
  const text = 'select p.done from lanefold.plan_judge($1, $2, $3, $4, $5) as p (done)';
  await db.query('plan_judge', text, [tenant_id, name, threadId, id, holdMs]);
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
  const rows = await db.query<RunScore & { micros: string } & Record<string, unknown>>(
    'run_scores',
    `select thread_id as "threadId", run_id as "runId", agent, agent_version as "agentVersion", status, score, scores,
       ended_at as "endedAt", scored_at as "scoredAt", ${microsSql('scored_at')} as micros
     from lanefold._run_score
     where tenant_id = $1 and monitor = $2 and ($3::text is null or (scored_at, thread_id, run_id) < (${timestampSql('$3')}, $4, $5))
       and ($6::float8 is null or score < $6::float8)
     order by scored_at desc, thread_id desc, run_id desc limit $7`,
    [tenant, name, micros, threadId, runId, below ?? null, limit + 1],
  );
  const data = rows.slice(0, limit).map(({ micros: _, ...row }) => row as RunScore);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { data, nextAfter: last ? cursorText([last.micros, last.threadId, last.runId]) : null };
}

/** Deletes old scores; see `drop_run_scores`. Returns how many. */
export async function dropScores(db: Database, days: number, limit: number): Promise<number> {
  const text = 'select d.dropped from lanefold.drop_run_scores($1, $2) as d (dropped)';
  return (await db.query<{ dropped: number }>('drop_run_scores', text, [days, limit]))[0]!.dropped;
}
