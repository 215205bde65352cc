import type pg from 'pg';
import { QuietClient } from '../../postgres/quiet-client.ts';
import type { Database } from '../../postgres/pool.ts';
/** `LFPF`, the first key of the session locks by which a process shows that it is alive. */
const lockClass = 0x4c465046;
const againMs = 500;

export interface HeldFleet {
  release(): Promise<void>;
}

/** Holds a lock on a dedicated connection for as long as the only process of a fleet lives, to show that it does. */
export async function holdFleet(url: string, prefix: string): Promise<HeldFleet> {
  let client: pg.Client;
  let released = false;
  let timer: NodeJS.Timeout | undefined;
  const hold = async () => {
    const own = new QuietClient({ connectionString: url, application_name: 'lanefold fleet', keepAlive: true });
    client = own;
    await own.connect();
    await own.query('select pg_advisory_lock($1, hashtext($2))', [lockClass, prefix]);
    own.once('end', again);
  };
  const again = () => {
    if (released) return;
    timer = setTimeout(() => void hold().catch(again), againMs).unref();
  };
  await hold();
  return {
    async release() {
      released = true;
      clearTimeout(timer);
      await client.end().catch(() => {});
    },
  };
}

export interface AbandonedRun {
  thread_id: string;
  run_id: string;
}

/** Calls `end` with the unfinished runs of each private fleet whose process is gone; a lock excludes other callers. */
export async function withAbandonedRuns(
  db: Database,
  url: string,
  end: (prefix: string, runs: AbandonedRun[]) => Promise<unknown>,
): Promise<void> {
  const runs = await db.query<AbandonedRun & { prefix: string }>(
    'find_private_runs',
    `select thread_id, id as run_id, queue_prefix as prefix from lanefold._run where active and queue_prefix like $1
     union all
     select thread_id, id, queue_prefix from lanefold._run
     where not active and finished_at is null and queue_prefix like $1`,
    [`${privatePrefix}%`],
  );
  if (runs.length === 0) return;
  const client = new QuietClient({ connectionString: url, application_name: 'lanefold fleet' });
  try {
    await client.connect();
    for (const prefix of new Set(runs.map((run) => run.prefix))) {
      const { rows } = await client.query<{ gone: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as gone', [
        lockClass,
        prefix,
      ]);
      if (!rows[0]!.gone) continue;
      const own = runs.filter((run) => run.prefix === prefix);
      await end(prefix, own);
    }
  } finally {
    await client.end();
  }
}

/** Begins the name of a fleet of one process, whose runs no other process takes. */
export const privatePrefix = 'lf-once-';
