import { callRows, call } from '../../../database/store/call.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { ListedEvalItem } from './types.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readRows } from '../../../database/store/rows.ts';
import type { StoredEval } from './evals.ts';

/** The row of a case, as functions return it. */
export interface CaseRow {
  id: string;
  dataset: string;
  kind: 'run' | 'call';
  thread_id: string;
  run_id: string | null;
  llm_call_id: string | null;
  context_ref: string;
  seq: number;
  context_hash: string;
  tags: string[];
  split: string | null;
  expected: JsonObject | null;
  note: string | null;
  erased_at: string | null;
}

/** An item that the caller has taken, to start its run. */
export interface TakenItem {
  no: number;
  case_id: string;
  variant: string;
  agent: string;
  repeat: number;
  taken_at: string;
  /** Null: it was removed. */
  case: CaseRow | null;
}

/** An eval with something to do. */
export interface OpenEval {
  id: string;
  tenant: string;
  spec: StoredEval;
}

/** An item whose run may have ended. */
export interface StartedItem {
  no: number;
  agent: string;
  variant: string;
  repeat: number;
  status: 'running' | 'scoring';
  threadId: string;
  runId: string;
  judge: { threadId: string; runId: string } | null;
  reused: boolean;
  /** The budget of the eval did not pay for a call of its run. */
  refused: boolean;
  /** It was scored before. */
  answered: boolean;
  case: CaseRow | null;
}

const columns = `i.no, i.case_id, i.tags, i.variant, i.repeat, i.agent, i.status, i.answer, i.scores,
  i.duration_ms::float8 as duration_ms, i.input_tokens::float8 as input_tokens, i.output_tokens::float8 as output_tokens,
  i.estimated_tokens::float8 as estimated_tokens, i.cost_micros::float8 as cost_micros, i.ended_by, i.diverged, i.reused, i.error,
  i.thread_id, i.run_id, i.judge_thread_id, i.judge_run_id, i.settled_at`;

/** The items of an eval, or of one of its cases, in order. */
export const readItems = (
  db: Database,
  id: string,
  { after, limit, caseId }: { after: number; limit: number; caseId?: string | undefined },
): Promise<ListedEvalItem[]> =>
  readRows<ListedEvalItem>(
    db,
    caseId === undefined ? 'eval_items' : 'eval_items_of_case',
    `select ${columns} from lanefold._eval_item i
     where i.eval_id = $1 and i.no > $2 ${caseId === undefined ? '' : 'and i.case_id = $4'} order by i.no limit $3`,
    caseId === undefined ? [id, after, limit] : [id, after, limit, caseId],
  );

/** The agents and variants of the items of evals that wait to be started. */
export const readNeeds = (
  db: Database,
  evals: readonly string[],
): Promise<{ evalId: string; agent: string; variant: string }[]> =>
  readRows<{ evalId: string; agent: string; variant: string }>(
    db,
    'eval_needs',
    `select distinct eval_id, agent, variant from lanefold._eval_item where eval_id = any ($1) and status = 'waiting'`,
    [[...evals]],
  );

/** The running evals of a private queue, or of shared ones, the oldest first; also those whose open items need agents that the caller lacks, so that it completes them. */
export const openEvals = (db: Database, queuePrefix: string | null): Promise<OpenEval[]> =>
  readRows<OpenEval>(
    db,
    'open_evals',
    `select id, tenant_id as tenant, spec from lanefold._eval where status = 'running' and queue_prefix is not distinct from $1::text order by created_at, id`,
    [queuePrefix],
  );

/** Takes items, to start their runs; see `take_eval_items`. */
export const takeItems = async (
  db: Database,
  id: string,
  agents: readonly string[],
  holdMs: number,
): Promise<TakenItem[]> => {
  const rows = await callRows(db.query, 'take_eval_items', { eval: id, agents: JSON.stringify(agents), holdMs });
  return rows.map(({ result }) => result as TakenItem);
};

/**
 * Reserves what the run of an item is expected to cost. Undefined: the caller has lost the item; see `reserve_eval_item`.
 */
export async function reserveItem(
  db: Database,
  id: string,
  { no, taken_at }: Pick<TakenItem, 'no' | 'taken_at'>,
  micros: number,
): Promise<'reserved' | 'waits' | 'skipped' | undefined> {
  const answer = await call(db.query, 'reserve_eval_item', { eval: id, no, takenAt: taken_at, micros });
  return (answer as 'reserved' | 'waits' | 'skipped' | null) ?? undefined;
}

/** What the run of an item may cost, in millionths of a dollar, once `more` is added; see `extend_eval_item`. */
export async function extendItem(db: Database, id: string, no: number, more: number): Promise<number | undefined> {
  const micros = await call(db.query, 'extend_eval_item', { eval: id, no, more });
  return (micros as number | null) ?? undefined;
}

/** Notes the run that an item is about to get. Returns false if the caller has lost the item; see `plan_eval_run`. */
export async function planRun(
  db: Database,
  { id, tenant }: Pick<OpenEval, 'id' | 'tenant'>,
  { no, taken_at }: Pick<TakenItem, 'no' | 'taken_at'>,
  run: { threadId: string; id: string },
): Promise<boolean> {
  const p = { tenant, thread_id: run.threadId, run_id: run.id };
  return await call(db.query, 'plan_eval_run', { eval: id, no, takenAt: taken_at, p });
}

/** Notes the run of an item that was taken. Returns false if the caller has lost the item; see `start_eval_item`. */
export async function startItem(
  db: Database,
  { id, tenant }: Pick<OpenEval, 'id' | 'tenant'>,
  { no, taken_at }: Pick<TakenItem, 'no' | 'taken_at'>,
  run: { threadId: string; id: string; reused: boolean },
): Promise<boolean> {
  const p = { tenant, thread_id: run.threadId, run_id: run.id, reused: run.reused };
  return await call(db.query, 'start_eval_item', { eval: id, no, takenAt: taken_at, p });
}

/**
 * Items with a run, or with a judge, that no worker scores at the moment; those that are to be judged only if the caller has
 * the agent of the judge.
 *
 * @param after the last one of the page before
 */
export const startedItems = (
  db: Database,
  { id, spec }: OpenEval,
  agents: readonly string[],
  { after, limit }: { after: number; limit: number },
): Promise<StartedItem[]> =>
  readRows<StartedItem>(
    db,
    'started_eval_items',
    `select i.no, i.agent, i.variant, i.repeat, i.status, i.thread_id, i.run_id, i.reused, i.error is not null as refused,
       i.answer is not null as answered,
       case when i.judge_run_id is not null then jsonb_build_object('threadId', i.judge_thread_id, 'runId', i.judge_run_id) end as judge,
       to_jsonb(c) as case
     from lanefold._eval_item i left join lanefold._case c on c.id = i.case_id
     where i.eval_id = $1 and i.no > $2 and i.run_id is not null
       and (i.status = 'running' or i.status = 'scoring' and (i.held_until is null or i.held_until <= lanefold._now()))
       and ($4 or i.judge_run_id is not null or c.expected ->> 'rubric' is null or coalesce(c.expected ->> 'scorer', 'judge') <> 'judge')
     order by i.no limit $3`,
    [id, after, limit, spec.judge === undefined || agents.includes(spec.judge.agent)],
  );

/** Takes an item, to score it. Returns the name of this attempt; undefined: another worker has it. */
export async function takeScoring(db: Database, id: string, no: number, holdMs: number): Promise<string | undefined> {
  const taken = await call(db.query, 'take_eval_scoring', { eval: id, no, holdMs });
  return (taken as string | null) ?? undefined;
}

/** Holds an item for longer. Returns false if the caller has lost it. */
export async function holdItem(
  db: Database,
  id: string,
  { no, taken_at }: Pick<TakenItem, 'no' | 'taken_at'>,
  holdMs: number,
): Promise<boolean> {
  return await call(db.query, 'hold_eval_item', { eval: id, no, takenAt: taken_at, holdMs });
}

/** Lets an item wait for its judge. Returns false if the caller has lost the item; see `await_eval_judge`. */
export async function awaitJudge(
  db: Database,
  { id, tenant }: Pick<OpenEval, 'id' | 'tenant'>,
  { no, taken_at }: Pick<TakenItem, 'no' | 'taken_at'>,
  run: { threadId: string; id: string },
): Promise<boolean> {
  const p = { tenant, thread_id: run.threadId, run_id: run.id };
  return await call(db.query, 'await_eval_judge', { eval: id, no, takenAt: taken_at, p });
}

/** Settles an item; see `settle_eval_item`. */
export const settleItem = async (
  db: Database,
  id: string,
  { no, taken_at }: Pick<TakenItem, 'no' | 'taken_at'>,
  outcome: JsonObject,
): Promise<void> => void (await call(db.query, 'settle_eval_item', { eval: id, no, takenAt: taken_at, p: outcome }));

/** The run of an earlier item of the tenant with the same key. */
export async function findAnswer(
  db: Database,
  tenant: string,
  key: string,
): Promise<{ threadId: string; id: string } | undefined> {
  const [row] = await readRows<{ threadId: string; id: string }>(
    db,
    'find_eval_answer',
    `select thread_id, run_id as id from lanefold._eval_item
     where tenant_id = $1 and answer_key = $2 and status = 'done' and not reused order by settled_at desc limit 1`,
    [tenant, key],
  );
  return row;
}

/** The first answered model call of a run on the run's own lane; undefined if it has none. */
export async function firstCall(db: Database, threadId: string, runId: string): Promise<string | undefined> {
  const [row] = await db.query<{ call: string }>(
    'first_call',
    `select e.refs ->> 'llm_call_id' as call from lanefold._run r
     join lanefold._entry e on e.thread_id = r.thread_id and e.run_id = r.id and e.context_ref = r.context_ref
     where r.thread_id = $1 and r.id = $2 and e.seq > r.user_seq and e.kind = 'ai_message' and e.role = 'assistant'
       and e.refs ? 'llm_call_id' order by e.seq limit 1`,
    [threadId, runId],
  );
  return row?.call;
}

/** A thread that an eval has made, with its run. */
export interface EvalThread {
  tenant: string;
  thread_id: string;
  run_id: string;
}

/** Takes threads to erase; see `take_eval_threads`. */
export async function takeThreads(
  db: Database,
  { limit, holdMs }: { limit: number; holdMs: number },
): Promise<EvalThread[]> {
  return (await callRows(db.query, 'take_eval_threads', { limit, holdMs })).map(({ result }) => result as EvalThread);
}

/** Notes that a thread is erased. */
export const dropThread = async (db: Database, { tenant, thread_id }: EvalThread): Promise<void> =>
  void (await call(db.query, 'drop_eval_thread', { tenant, thread: thread_id }));

/** Removes the cases and evals of a tenant; see `erase_evals`. */
export const eraseEvals = async (db: Database, tenant: string): Promise<void> =>
  void (await call(db.queryLong, 'erase_evals', { tenant }));
