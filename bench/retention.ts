import { setTimeout as delay } from 'node:timers/promises';
import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { agent, models, text400 } from './workload.ts';

const oldRuns = 20_000;
const windowMs = 20_000;
const inFlight = 40;

/**
 * Lets a worker produce runs as fast as it can on top of a backlog of old traces. Compares the number of traces it
 * dropped with the number of runs it produced; above 1, traces do not pile up.
 */
export async function retention(servers: Servers): Promise<void> {
  const url = await servers.database();
  const lanefold = await createLanefold({
    databaseUrl: url,
    redisUrl: servers.redisUrl ?? null,
    agents: [agent],
    models,
    queuePrefix: 'retention',
  });
  const first = await lanefold.startWorker({ traceRetentionDays: 0 });
  const { id, threadId } = await lanefold.runs.enqueue({ agent: 'bench', input: text400 });
  await lanefold.runs.wait({ id, threadId });
  await first.stop();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  await copyAsOld(pool, threadId);

  let producing = true;
  const produce = async () => {
    while (producing) await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', input: text400 }));
  };
  const counts = async () => {
    const { rows } = await pool.query<{ produced: number; cleared: number }>(
      `select count(*) filter (where thread_id !~ '^old-' and finished_at is not null)::int as produced,
         count(trace_dropped_at)::int as cleared from lanefold._run`,
    );
    return rows[0]!;
  };
  await lanefold.startWorker({ concurrency: 20 });
  const producers = Array.from({ length: inFlight }, produce);
  await delay(2_000);
  const before = await counts();
  await delay(windowMs);
  const after = await counts();
  producing = false;
  await Promise.all(producers);
  const produced = after.produced - before.produced;
  const cleared = after.cleared - before.cleared;
  const left = oldRuns - after.cleared;
  console.log(
    `\nRetention: in the same ${windowMs / 1_000} s, one worker produced ${produced} runs and cleared the traces of ${cleared}` +
      `${left > 0 ? '' : ', which was all of them'}: ratio ${(cleared / produced).toFixed(1)} (goal: above 1)`,
  );
  await pool.end();
  await lanefold.close();
}

/** Copies a run with its trace to new threads, with an end older than traces are kept. */
async function copyAsOld(pool: pg.Pool, threadId: string): Promise<void> {
  const copy = (table: string, changes: string) =>
    pool.query(
      `insert into lanefold.${table} select (jsonb_populate_record(r, jsonb_build_object(${changes}))).*
       from lanefold.${table} r, generate_series(1, ${oldRuns}) n where ${table === 'thread' ? 'id' : 'thread_id'} = $1`,
      [threadId],
    );
  await copy('thread', "'id', 'old-' || n");
  await copy('_run', "'thread_id', 'old-' || n, 'finished_at', r.finished_at - interval '31 days'");
  await copy('_event_batch', "'thread_id', 'old-' || n");
  await pool.query('analyze lanefold.thread, lanefold._run, lanefold._event_batch');
}
