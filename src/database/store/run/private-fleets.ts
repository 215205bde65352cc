import type pg from 'pg';
import { QuietClient } from '../../postgres/watched-client.ts';
import type { Database } from '../../postgres/pool.ts';
import { lockClass } from './hold-fleet.ts';
import { delay } from '../../../base/common/timer.ts';

/**
 * A process that is alive takes a lost lock again within this time, and its worker sends a heartbeat: every 4 s by default.
 */
const aliveMs = 6_000;

export interface AbandonedRun {
  thread_id: string;
  run_id: string;
}

/**
 * Calls `end` with the unfinished runs of each private fleet whose process is gone; a lock excludes other callers. The lock
 * of a process is gone after a restart of the database too, so this looks twice, with time to show a sign of life between.
 */
export async function withAbandonedRuns(
  db: Database,
  url: string,
  end: (prefix: string, runs: AbandonedRun[]) => Promise<unknown>,
): Promise<void> {
  const found = new Set((await findPrivateRuns(db)).map((run) => run.prefix));
  if (found.size === 0) return;
  const client = new QuietClient({ connectionString: url, application_name: 'lanefold fleet' });
  try {
    await client.connect();
    const unheld = [];
    for (const prefix of found) if (await takes(client, 'pg_try_advisory_xact_lock', prefix)) unheld.push(prefix);
    if (unheld.length === 0) return;
    const before = await lastHeartbeats(db, unheld);
    await delay(aliveMs);
    const after = await lastHeartbeats(db, unheld);
    const runs = await findPrivateRuns(db);
    for (const prefix of unheld) {
      if (after.get(prefix) !== before.get(prefix)) continue;
      if (!(await takes(client, 'pg_try_advisory_lock', prefix))) continue;
      await end(
        prefix,
        runs.filter((run) => run.prefix === prefix),
      );
    }
  } finally {
    await client.end();
  }
}

const findPrivateRuns = (db: Database) =>
  db.query<AbandonedRun & { prefix: string }>(
    'find_private_runs',
    `select thread_id, id as run_id, queue_prefix as prefix from lanefold._run where active and queue_prefix like $1
     union all
     select thread_id, id, queue_prefix from lanefold._run
     where not active and finished_at is null and queue_prefix like $1`,
    [`${privatePrefix}%`],
  );

/** A lock for the transaction is released at once, so that a process which wants it back does not wait for it. */
async function takes(
  client: pg.Client,
  lock: 'pg_try_advisory_lock' | 'pg_try_advisory_xact_lock',
  prefix: string,
): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(`select ${lock}($1, hashtext($2)) as taken`, [
    lockClass,
    prefix,
  ]);
  return rows[0]!.taken;
}

/** When a worker of each fleet last reported; none for a process that has not started a worker. */
async function lastHeartbeats(db: Database, prefixes: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ queue: string; at: string }>(
    'last_heartbeats',
    'select queue, max(heartbeat_at)::text as at from lanefold.worker where queue = any ($1) group by queue',
    [prefixes],
  );
  return new Map(rows.map(({ queue, at }) => [queue, at]));
}

/** Begins the name of a fleet of one process, whose runs no other process takes. */
export const privatePrefix = 'lf-once-';
