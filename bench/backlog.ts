import { createLanefold } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { spreadOf } from '../src/ops/chaos/report.ts';
import type { WorkerState } from './processes/worker.ts';
import type { Servers } from './setup.ts';
import { slowAgent, slowModels } from './slow-model.ts';
import { printErrors } from './support/print-errors.ts';
import { backends, type Backend } from './support/backends.ts';
import { inTurn } from './support/in-turn.ts';
import { startProcess } from './support/process.ts';
import { until } from './support/until.ts';
import { text400 } from './workload.ts';

const concurrency = 20;
/** With two workers the backlog lasts for minutes, longer than any recovery. */
const model = 'latency:1000';
/** Gives sweeps time to see the whole backlog before the worker is killed. */
const settleSeconds = 15;
const withinMs = 120_000;

/**
 * Kills one of two workers while a backlog of runs is queued, and measures the time from SIGKILL until the other worker
 * resumes each run that the killed one held.
 */
export async function backlog(servers: Servers, { runs }: { runs: number }): Promise<void> {
  for (const backend of backends(servers)) await killBefore(backend, await servers.database(), runs);
}

async function killBefore({ name, redisUrl }: Backend, databaseUrl: string, count: number): Promise<void> {
  const options = { databaseUrl, redisUrl, queuePrefix: `backlog-${name.toLowerCase()}` };
  const lanefold = await createLanefold({ ...options, agents: [slowAgent], models: slowModels().models });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  await inTurn(count, 20, () => lanefold.runs.enqueue({ agent: 'slow', input: text400, model }));
  const start = () => startProcess('worker', { ...options, worker: { concurrency } });
  const [target, survivor] = await Promise.all([start(), start()]);
  const { id } = await target.ask<WorkerState>('state');
  await delay(settleSeconds * 1_000);
  const isBusy = async () => (await target.ask<WorkerState>('state')).waiting >= concurrency / 2;
  await until(isBusy, { withinMs, everyMs: 20 });
  const killedAt = Date.now();
  await target.kill();
  const { rows: held } = await pool.query<{ thread_id: string; id: string; lease: string }>(
    "select thread_id, id, lease from lanefold.run where worker_id = $1 and status = 'running'",
    [id],
  );
  const { rows: queued } = await pool.query<{ count: number }>(
    "select count(*)::int as count from lanefold.run where status = 'queued'",
  );
  // every claim raises the lease number
  const resumedAt = new Map<string, number>();
  const allResumed = async () => {
    const { rows } = await pool.query<{ id: string }>(
      `select r.id from unnest($1::text[], $2::text[], $3::bigint[]) as held (thread_id, id, lease)
       join lanefold.run r on r.thread_id = held.thread_id and r.id = held.id and r.lease > held.lease`,
      [held.map((run) => run.thread_id), held.map((run) => run.id), held.map((run) => run.lease)],
    );
    for (const run of rows) if (!resumedAt.has(run.id)) resumedAt.set(run.id, Date.now());
    return resumedAt.size === held.length;
  };
  await until(allResumed, { withinMs, everyMs: 100 });
  const times = [...resumedAt.values()].map((at) => at - killedAt);
  const { p50, max } = spreadOf(times);
  const outcome = times.length === 0 ? '' : `: median ${p50} ms, max ${max} ms (goal 10,000)`;
  console.log(
    `\nWorker killed with ${queued[0]!.count} runs queued, queue in ${name}: ${times.length} of the ${held.length} runs it held resumed within ${withinMs / 1_000} s${outcome}`,
  );
  printErrors([await survivor.ask<WorkerState>('state')]);
  await survivor.kill();
  await pool.end();
  await lanefold.close();
}
