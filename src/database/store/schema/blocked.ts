import { DrizzleQueryError } from 'drizzle-orm/errors';
import type pg from 'pg';
import { LanefoldError } from '../../../base/errors.ts';
import { delay } from '../../../base/common/timer.ts';

export interface LockPatience {
  /** How long to try, in milliseconds; default 60,000. */
  lockPatienceMs?: number;
  /** Called each time a lock could not be acquired, with a sentence that names the session that holds it. */
  onBlocked?: (message: string) => void;
}

/** Writers queue behind a migration that waits for a table, so it never waits longer than this at a time. */
const turnMs = 2_000;

/**
 * Retries `work` while other transactions hold the tables it needs. It must be one transaction, or safe to repeat.
 *
 * @throws LanefoldError `thread_locked`
 */
export async function untilUnblocked<T>(
  client: pg.Client,
  { lockPatienceMs = 60_000, onBlocked }: LockPatience,
  work: () => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + lockPatienceMs;
  await client.query(`set lock_timeout = ${Math.min(turnMs, lockPatienceMs)}`);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const fault = error instanceof DrizzleQueryError ? error.cause : error;
      if ((fault as { code?: string } | undefined)?.code !== '55P03') throw error;
      await client.query('rollback');
      const message = `The migration waits for ${await findHolder(client)}.`;
      onBlocked?.(message);
      if (performance.now() > giveUpAt) {
        throw new LanefoldError('thread_locked', message, {
          hint: 'Nothing was changed. End that transaction, for example with pg_terminate_backend, and migrate again.',
          cause: error,
        });
      }
      await delay(turnMs / 4);
    }
  }
}

/** The session with the oldest transaction on our tables. */
async function findHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; state: string; seconds: number }>(
    `select a.pid, a.application_name as name, a.state, extract(epoch from clock_timestamp() - a.xact_start)::int as seconds
     from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
     where c.relnamespace in (to_regnamespace('lanefold'), to_regnamespace('bullmq')) and l.granted
       and l.pid <> pg_backend_pid() and l.database = (select oid from pg_database where datname = current_database())
     order by a.xact_start limit 1`,
  );
  const [holder] = rows;
  if (!holder) return 'a table that another transaction held';
  const { pid, name, state, seconds } = holder;
  return `a table that session ${pid} (${name || 'unnamed'}, ${state}) holds in a transaction of ${seconds} s`;
}
