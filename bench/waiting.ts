import { createLanefold } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { WorkerState } from './processes/worker.ts';
import { printErrors } from './support/print-errors.ts';
import type { Servers } from './setup.ts';
import { slowAgent, slowModels } from './slow-model.ts';
import { backends, type Backend } from './support/backends.ts';
import { inTurn } from './support/in-turn.ts';
import { startProcess } from './support/process.ts';
import { until } from './support/until.ts';
import { text400 } from './workload.ts';

const processes = 4;
/** Five times the duration of a lease: a run whose lease is not renewed is claimed again. */
const holdSeconds = 30;
const withinMs = 600_000;

/**
 * Lets all runs wait for a slow model at once, in four worker processes, then releases the model. Counts in SQL the
 * runs that were lost, claimed twice or answered twice, and measures memory per waiting run.
 */
export async function waiting(servers: Servers, { runs }: { runs: number }): Promise<void> {
  for (const backend of backends(servers)) await waitOn(backend, await servers.database(), runs);
}

async function waitOn({ name, redisUrl }: Backend, databaseUrl: string, count: number): Promise<void> {
  const options = { databaseUrl, redisUrl, queuePrefix: `waiting-${name.toLowerCase()}` };
  const workers = await Promise.all(
    Array.from({ length: processes }, () =>
      startProcess('worker', { ...options, worker: { concurrency: Math.ceil(count / processes) } }),
    ),
  );
  const states = () => Promise.all(workers.map((worker) => worker.ask<WorkerState>('state')));
  const total = (of: WorkerState[], key: 'waiting' | 'calls' | 'residentBytes') =>
    of.reduce((sum, state) => sum + state[key], 0);
  const lanefold = await createLanefold({ ...options, agents: [slowAgent], models: slowModels().models });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });

  const idleBytes = total(await states(), 'residentBytes');
  const startedAt = performance.now();
  await inTurn(count, 20, () => lanefold.runs.enqueue({ agent: 'slow', input: text400 }));
  const enqueueSeconds = (performance.now() - startedAt) / 1_000;
  const allWait = await until(async () => total(await states(), 'waiting') >= count, { withinMs });
  const waitingSeconds = (performance.now() - startedAt) / 1_000;
  let peakBytes = 0;
  for (let i = 0; i < holdSeconds; i++) {
    peakBytes = Math.max(peakBytes, total(await states(), 'residentBytes'));
    await delay(1_000);
  }
  const held = total(await states(), 'waiting');
  const releasedAt = performance.now();
  await Promise.all(workers.map((worker) => worker.ask('release')));
  const ended = async () => (await check(pool)).unfinished === 0;
  const allEnded = await until(ended, { withinMs, everyMs: 1_000 });
  const endSeconds = (performance.now() - releasedAt) / 1_000;

  const found = await check(pool);
  console.log(
    `\n${count} runs waiting for ${holdSeconds} s in ${processes} worker processes, queue in ${name}: ${held} waited at the end of that time${allWait ? '' : ' (NOT ALL)'}`,
  );
  console.log(
    `  lost ${count - found.completed}, claimed twice ${found.claimedTwice}, answered twice ${found.answeredTwice}, ` +
      `model calls lost ${found.lostCalls}, model calls ${total(await states(), 'calls')}${allEnded ? '' : `, unfinished ${found.unfinished}`}`,
  );
  console.log(
    `  ${((peakBytes - idleBytes) / count / 1024).toFixed(1)} KiB resident per waiting run (${(peakBytes / 2 ** 20).toFixed(0)} MiB in all, ${(idleBytes / 2 ** 20).toFixed(0)} idle)`,
  );
  console.log(
    `  enqueued in ${enqueueSeconds.toFixed(1)} s, all waiting after ${waitingSeconds.toFixed(1)} s, all ended ${endSeconds.toFixed(1)} s after the answer`,
  );
  printErrors(await states());
  await Promise.all(workers.map((worker) => worker.stop()));
  await lanefold.close();
  await pool.end();
}

interface Found {
  completed: number;
  unfinished: number;
  claimedTwice: number;
  answeredTwice: number;
  lostCalls: number;
}

async function check(pool: pg.Pool): Promise<Found> {
  const { rows } = await pool.query<Found>(`
    select count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where finished_at is null)::int as unfinished,
      (select count(distinct run_id)::int from lanefold.run_event where kind = 'worker_lost') as "claimedTwice",
      (select count(*)::int from (select from lanefold.thread_entry where role = 'assistant'
        group by thread_id, run_id having count(*) > 1) e) as "answeredTwice",
      (select count(*)::int from lanefold.run_event where kind = 'llm_lost') as "lostCalls"
    from lanefold.run`);
  return rows[0]!;
}
