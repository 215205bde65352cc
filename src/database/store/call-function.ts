import { inOrder } from './call.ts';
import { databaseFunctions, type DatabaseFunctions } from './functions.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { fromPostgres, isAnswerLost, isConnectionError } from '../postgres/errors.ts';
import type { Database } from '../postgres/pool.ts';

/** The functions of db/sql that are called often enough to share statements: those `lanefold.attempt` knows. */
export type BatchedFunction =
  'append_entries' | 'claim_run' | 'commit_step' | 'enqueue_input' | 'enqueue_run' | 'finish_run' | 'record_tool_call';

/** A call of one of them, and the run that the call ends. */
export type BatchedCall = {
  [Name in BatchedFunction]: [name: Name, args: DatabaseFunctions[Name]['takes'], ends?: string];
}[BatchedFunction];

/** In characters; a longer call would delay the rest of its batch. */
const longestItem = 2 ** 18;

interface Attempt {
  result: unknown;
  locked: boolean;
  error: { code: string; message: string; hint: string } | null;
}

const attempts = databaseFunctions.attempt_all.text;

/**
 * Calls a function that writes one thread. Calls that this process makes at the same moment for other threads share its
 * statement and its transaction (group commit). A call runs alone if it is large or audited, if its thread is locked, or if its
 * batch failed, so that no call fails because of another one.
 *
 * @param args none may be `undefined`
 * `ends`: the run that this call ends; if the call ran in a batch, its result then has that run as `run`
 */
export async function callFunction<Result>(db: Database, ...[name, args, ends]: BatchedCall): Promise<Result> {
  const values = inOrder(name, args);
  const [threadId, ...rest] = values as [string, ...unknown[]];
  const item = JSON.stringify({ thread_id: threadId, function: name, args: rest, ends });
  if (db.settings.distributed || db.audits?.(name, values) || item.length > longestItem)
    return callAlone(db, name, values);
  let attempt: Attempt;
  try {
    attempt = await db.gather<Attempt>('attempts', attempts, item);
  } catch (error) {
    if (isConnectionError(error) || isLanefoldError(error, 'database_busy')) throw error;
    return callAlone(db, name, values);
  }
  if (attempt.locked) return callAlone(db, name, values);
  if (attempt.error) {
    throw fromPostgres(Object.assign(new Error(attempt.error.message), attempt.error), threadId);
  }
  return noticed(db, attempt.result as Result);
}

async function callAlone<Result>(db: Database, name: BatchedFunction, values: readonly unknown[]): Promise<Result> {
  const sent = values.map((value) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value));
  // on a distributed database nothing is batched, so every write takes this path
  const send = db.settings.distributed ? db.query : db.queryLocking;
  const [row] = await send<{ result: Result }>(name, databaseFunctions[name].text, sent);
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

/** What a notification says after a commit that noted events; without it, an endpoint was changed. */
export const eventsNoted = 'events';

/**
 * Passes on, after a commit, that deliveries of webhooks are due: to a worker of this process, else to all workers. The
 * sweep finds those whose notice is lost.
 */
export class DeliveryNotices {
  /** What the workers of this process do. */
  readonly dispatchers = new Set<() => void>();
  #sending = false;
  #again = false;

  constructor(private readonly db: Pick<Database, 'query'>) {}

  due(): void {
    const [look] = this.dispatchers;
    if (look) look();
    else if (this.#sending) this.#again = true;
    else void this.#send();
  }

  /** Once for all commits while one is sent. From here also on a distributed database: a node would reach its own sessions. */
  async #send(): Promise<void> {
    this.#sending = true;
    do {
      this.#again = false;
      await this.db
        .query('notify_webhooks', "select pg_notify('lanefold_webhooks', $1)", [eventsNoted])
        .catch(() => {});
    } while (this.#again);
    this.#sending = false;
  }
}

/** Passes on what the answer of a database function says about deliveries. Returns the answer. */
export function noticed<Answer>(db: Pick<Database, 'settings'>, answer: Answer): Answer {
  if (typeof answer === 'object' && answer && 'deliveries' in answer) db.settings.deliveriesDue?.();
  return answer;
}
