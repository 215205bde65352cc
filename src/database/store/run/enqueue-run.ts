import type { RunStatus } from './types.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { scopeStatements } from '../../postgres/query-in-scope.ts';
import { outOfLine } from '../content/out-of-line.ts';
import { contextLimit } from '../rows.ts';
import { callFunction, repeatIfLost } from '../call-function.ts';
import { withinTransaction, type Transaction } from '../transaction/within-transaction.ts';
import type { Claim, Refusal } from './claim-run.ts';

export interface EnqueuedRun {
  run_id: string;
  status: RunStatus;
  enqueue_no: number;
  queue_shard: number;
  /** Whose run it is; absent unless it may start. */
  tenant_id?: string;
  /** The request was accepted before. */
  duplicate: boolean;
  /** If the request had a claim: its answer, or null if the run could not start. */
  claim?: Claim | Refusal | null;
  /** The active run, which no worker held and an interrupt has ended. A repeated request does not say it. */
  ended?: string;
}

/** Accepts a run, in the caller's transaction if there is one. `given` is the argument of `enqueue_run`. */
export async function enqueueRun(
  db: Database,
  threadId: string,
  given: JsonObject,
  tx?: Transaction,
): Promise<EnqueuedRun> {
  const { claim } = given;
  const request = toStoredRequest(db, given);
  if (tx) return enqueueWithin(db, tx, threadId, JSON.stringify(request));
  const run = await repeatIfLost((repeated) =>
    callFunction<EnqueuedRun>(db, 'enqueue_run', {
      threadId,
      p: repeated && claim ? { ...request, claim: { ...(claim as JsonObject), repeated } } : request,
    }),
  );
  // with the same run id it is this very request, whose first answer was lost
  return { ...run, duplicate: run.duplicate && run.run_id !== given['run_id'] };
}

/** The request with its large texts out of line, and the limit of contexts. */
export function toStoredRequest(db: Database, given: JsonObject): JsonObject {
  // a compaction has no input, nor has a run that answers a question of another one
  const { messages, contents } = outOfLine(db, given['input'] === undefined ? [] : [given['input'] as JsonObject]);
  const [input] = messages;
  return { ...given, ...(input && { input }), ...(contents && { contents }), ...contextLimit(db) } as JsonObject;
}

async function enqueueWithin(
  { tenant, settings }: Database,
  tx: Transaction,
  threadId: string,
  request: string,
): Promise<EnqueuedRun> {
  const [row] = await withinTransaction(tx, async (query) => {
    const enqueue = () => query('select lanefold.enqueue_run($1, $2::text::jsonb) as run', [threadId, request]);
    if (tenant === undefined) return enqueue();
    // the rest of the caller's transaction keeps its own tenant
    const [before] = await query("select coalesce(current_setting('lanefold.tenant', true), '') as tenant", []);
    const act = async (as: string) => {
      if (settings.distributed) for (const { text } of scopeStatements({ tenant: as }, true)) await query(text, []);
      else await query("select set_config('lanefold.tenant', $1, true)", [as]);
    };
    await act(tenant);
    const answer = await enqueue();
    await act((before as { tenant: string }).tenant);
    return answer;
  });
  return (row as { run: EnqueuedRun }).run;
}
