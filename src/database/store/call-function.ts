import { isLanefoldError } from '../../base/errors.ts';
import { fromPostgres, isAnswerLost, isConnectionError } from '../postgres/errors.ts';
import type { Database } from '../postgres/pool.ts';
import { noticed } from './delivery-notices.ts';

/** The functions of db/sql that are called often enough to share statements: those `lanefold.attempt` knows. */
export type BatchedFunction =
  'append_entries' | 'claim_run' | 'commit_step' | 'enqueue_input' | 'enqueue_run' | 'finish_run' | 'record_tool_call';

/** In characters; a longer call would delay the rest of its batch. */
const longestItem = 2 ** 18;

interface Attempt {
  result: unknown;
  locked: boolean;
  error: { code: string; message: string; hint: string } | null;
}

const attempts = 'select a.result, a.locked, a.error from lanefold.attempt_all($1) a';

/**
 * Calls a function that writes one thread. Calls that this process makes at the same moment for other threads share its
 * statement and its transaction (group commit). A call runs alone if it is large or audited, if its thread is locked, or if its
 * batch failed, so that no call fails because of another one.
 *
 * @param args the arguments after the thread id; none may be `undefined`
 * @param ends the run that this call ends: if the call ran in a batch, its result then has that run as `run`
 */
export async function callFunction<Result>(
  db: Database,
  name: BatchedFunction,
  threadId: string,
  args: readonly unknown[],
  ends?: string,
): Promise<Result> {
  const item = JSON.stringify({ thread_id: threadId, function: name, args, ends });
  if (db.settings.distributed || db.audits?.(name, [threadId, ...args]) || item.length > longestItem)
    return callAlone(db, name, threadId, args);
  let attempt: Attempt;
  try {
    attempt = await db.gather<Attempt>('attempts', attempts, item);
  } catch (error) {
    if (isConnectionError(error) || isLanefoldError(error, 'database_busy')) throw error;
    return callAlone(db, name, threadId, args);
  }
  if (attempt.locked) return callAlone(db, name, threadId, args);
  if (attempt.error) {
    throw fromPostgres(Object.assign(new Error(attempt.error.message), attempt.error), threadId);
  }
  return noticed(db, attempt.result as Result);
}

async function callAlone<Result>(
  db: Database,
  name: BatchedFunction,
  threadId: string,
  args: readonly unknown[],
): Promise<Result> {
  const values = [
    threadId,
    ...args.map((arg) => (arg !== null && typeof arg === 'object' ? JSON.stringify(arg) : arg)),
  ];
  // on a distributed database nothing is batched, so every write takes this path
  const query = db.settings.distributed ? db.query : db.queryLocking;
  const [row] = await query<{ result: Result }>(
    name,
    `select lanefold.${name}(${values.map((_, i) => `$${i + 1}`).join(', ')}) as result`,
    values,
  );
  return noticed(db, row!.result);
}

/**
 * Repeats a call once if its answer was lost with the connection. The function recognises a call it has already
 * executed; `repeated` is for those that have to be told.
 */
export async function repeatIfLost<Result>(call: (repeated: boolean) => Promise<Result>): Promise<Result> {
  try {
    return await call(false);
  } catch (error) {
    if (!isAnswerLost(error)) throw error;
    return await call(true);
  }
}
