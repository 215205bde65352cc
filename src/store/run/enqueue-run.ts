import { sql, type SQL } from 'drizzle-orm/sql';
import type { JsonObject } from '../../context/message.ts';
import { fromPostgres } from '../../postgres/errors.ts';
import type { Database } from '../../postgres/pool.ts';
import { contextLimit } from '../context-limit.ts';
import { callFunction, repeatIfLost } from '../call-function.ts';
import type { RunStatus } from './run.ts';

/** The caller's own transaction: a `pg` client in one, or what Drizzle hands to `db.transaction`. */
export type Transaction =
  | { query(text: string, values: unknown[]): Promise<{ rows: unknown[] }> }
  | { execute(query: SQL): Promise<{ rows: unknown[] }> };

export interface AcceptedRun {
  run_id: string;
  status: RunStatus;
  enqueue_no: number;
  queue_shard: number;
  /** The request had been accepted before. */
  duplicate: boolean;
}

/** Accepts a run, in the caller's transaction where one is given. `request` is the argument of `enqueue_run`. */
export async function enqueueRun(
  db: Database,
  threadId: string,
  given: JsonObject,
  tx?: Transaction,
): Promise<AcceptedRun> {
  const request: JsonObject = { ...given, ...contextLimit(db) };
  if (tx) return enqueueWithin(tx, threadId, JSON.stringify(request), db.tenant);
  const run = await repeatIfLost(() => callFunction<AcceptedRun>(db, 'enqueue_run', threadId, [request]));
  // this very request, where its first answer was lost
  return { ...run, duplicate: run.duplicate && run.run_id !== request['run_id'] };
}

async function enqueueWithin(
  tx: Transaction,
  threadId: string,
  request: string,
  tenant: string | undefined,
): Promise<AcceptedRun> {
  const call = async (text: string, ...values: unknown[]) => {
    const { rows } =
      'execute' in tx
        ? await tx.execute(
            sql.join(
              text
                .split(/\$\d/)
                .flatMap((part, i) => [sql.raw(part), ...(i < values.length ? [sql`${values[i]}`] : [])]),
            ),
          )
        : await tx.query(text, values);
    return rows[0] as Record<string, unknown>;
  };
  try {
    // the rest of the caller's transaction keeps its own tenant
    const before = tenant && (await call("select current_setting('lanefold.tenant', true) as tenant"))['tenant'];
    if (tenant) await call("select set_config('lanefold.tenant', $1, true)", tenant);
    const { run } = await call('select lanefold.enqueue_run($1, $2::jsonb) as run', threadId, request);
    if (tenant) await call("select set_config('lanefold.tenant', $1, true)", before ?? '');
    return run as AcceptedRun;
  } catch (error) {
    throw fromPostgres(error);
  }
}
