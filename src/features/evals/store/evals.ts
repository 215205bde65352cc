import { call } from '../../../database/store/call.ts';
import type { evaluation } from '../../../../db/schema/eval.ts';
import type { OptionsWith } from '../../../agent/definition/options.ts';
import type { SnakeCase } from '../../../base/common/case.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { EvalItemStatus } from './types.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  microsSql,
  pageByTime,
  readCursor,
  readRows,
  timestampSql,
  type ListPage,
} from '../../../database/store/rows.ts';

/** The definition of an eval, as it is stored. */
export interface StoredEval extends Bounds {
  dataset: string;
  variants: StoredVariant[];
  repeats: number;
  tools: 'recorded' | 'live' | 'stubs';
  stubs?: Record<string, Json>;
  concurrency: number;
  priority: number;
  fresh: boolean;
  judge?: { agent: string; model?: Json };
  tag?: string;
  split?: string;
  case_ids?: string[];
}

/** Options of runs that an eval may bound. */
type Bounds = { [NAME in keyof OptionsWith<{ evals: 'bound' }> as SnakeCase<NAME>]?: number };

export interface StoredVariant {
  name: string;
  agent?: string;
  version?: string;
  /** See `storedModelOption`. */
  model?: Json;
  context_policy?: Json;
  system_prompt?: string | null;
}

export interface EvalRow extends Pick<
  typeof evaluation.$inferSelect,
  'id' | 'dataset' | 'queuePrefix' | 'createdBy' | 'createdAt' | 'finishedAt'
> {
  tenant: string;
  status: 'running' | 'completed' | 'cancelled';
  spec: StoredEval;
  items: Partial<Record<EvalItemStatus, number>>;
  costMicros: number;
}

const columns = `e.id, e.tenant_id as tenant, e.dataset, e.queue_prefix, e.status, e.spec, e.created_by, e.created_at,
  e.finished_at, (select coalesce(jsonb_object_agg(s.status, s.count), '{}') from (
    select i.status, count(*) as count from lanefold._eval_item i where i.eval_id = e.id group by 1) s) as items,
  (select coalesce(sum(i.cost_micros), 0)::float8 from lanefold._eval_item i where i.eval_id = e.id) as cost_micros`;

export const startEval = async (db: Database, tenant: string, id: string, p: JsonObject): Promise<void> =>
  void (await call(db.query, 'start_eval', { tenant, id, p }));

export async function readEval(db: Database, id: string): Promise<EvalRow | undefined> {
  const text = `select ${columns} from lanefold._eval e where e.id = $1`;
  return (await readRows<EvalRow>(db, 'eval', text, [id]))[0];
}

/** A page of evals, the newest first. */
export async function listEvals(
  db: Database,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<EvalRow>> {
  const [micros = null, id = null] = readCursor(after, 1) ?? [];
  const rows = await readRows<EvalRow & { micros: string }>(
    db,
    'list_evals',
    `select ${columns}, ${microsSql('e.created_at')} as micros from lanefold._eval e
     where $1::text is null or (e.created_at, e.id) < (${timestampSql('$1')}, $2) order by e.created_at desc, e.id desc limit $3`,
    [micros, id, limit + 1],
  );
  return pageByTime(rows, limit, ({ id }) => [id]);
}

/** Cancels an eval; see `cancel_eval`. Undefined: it is not running. */
export async function cancelEval(
  db: Database,
  id: string,
  by: string,
): Promise<{ runs: { thread_id: string; run_id: string }[] } | undefined> {
  const cancelled = await call(db.query, 'cancel_eval', { eval: id, by });
  return (cancelled as { runs: { thread_id: string; run_id: string }[] } | null) ?? undefined;
}

/** How many answers will be scored again; undefined: it is running, or does not exist. */
export async function rescoreEval(
  db: Database,
  id: string,
  by: string,
  queuePrefix: string | null,
): Promise<number | undefined> {
  const count = await call(db.query, 'rescore_eval', { eval: id, by, queue: queuePrefix });
  return (count as number | null) ?? undefined;
}

/** Removes an eval; see `remove_eval`. Returns false if it is running, or does not exist. */
export async function removeEval(db: Database, id: string, by: string): Promise<boolean> {
  return await call(db.queryLong, 'remove_eval', { eval: id, by });
}
