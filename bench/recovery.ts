import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLanefold, type Lanefold, type RunHandle } from 'lanefold';
import pg from 'pg';
import { assistant } from '../src/ops/cli/assistant.ts';
import { spreadOf } from '../src/ops/chaos/report.ts';
import type { Servers } from './setup.ts';

const workersPerRound = 5;
const rounds = 4;
/** Does not respond until long after the round. */
const model = 'scripted:["done"]?latency_ms=600000';

interface Worker {
  id: string;
  process: ChildProcess;
}

/**
 * Kills workers that hold a run, with the default intervals and at random points of their leases, and measures the time
 * from SIGKILL until another worker has committed a step of that run.
 */
export async function recovery(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  const lanefold = await createLanefold({ databaseUrl, redisUrl: null, agents: [assistant] });
  const times: number[] = [];
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  for (let round = 0; round < rounds; round++) times.push(...(await killAndWait(lanefold, pool, databaseUrl)));
  const { p50, p95, max } = spreadOf(times);
  console.log(
    `\n${times.length} workers killed while holding a run: another worker resumed it after ${p50} ms (median), ${p95} ms (p95), ${max} ms (max; goal 10,000)`,
  );
  await pool.end();
  await lanefold.close();
}

async function killAndWait(lanefold: Lanefold, pool: pg.Pool, databaseUrl: string): Promise<number[]> {
  const targets = await Promise.all(Array.from({ length: workersPerRound }, () => startWorker(databaseUrl, 1)));
  const runs = await Promise.all(
    targets.map(() => lanefold.runs.enqueue({ agent: 'assistant', input: 'wait', model })),
  );
  for (const run of runs) while ((await lanefold.runs.get(run)).status !== 'running') await delay(20);
  const ids = runs.map((run) => run.id);
  const { rows: held } = await pool.query<{ id: string; worker_id: string }>(
    'select id, worker_id from lanefold.run where id = any($1)',
    [ids],
  );
  const rescuer = await startWorker(databaseUrl, workersPerRound);
  const killedAt = new Map<string, number>();
  await Promise.all(
    targets.map(async ({ id, process: target }) => {
      await delay(Math.random() * 4_000);
      const exited = once(target, 'exit');
      killedAt.set(id, Date.now());
      target.kill('SIGKILL');
      await exited;
    }),
  );
  const times = await Promise.all(runs.map((run) => resumedAt(lanefold, run)));
  // while a worker is alive to end them: the next round must not find these runs
  for (const run of runs) await lanefold.runs.cancel(run);
  for (const run of runs) await lanefold.runs.wait(run);
  rescuer.process.kill('SIGKILL');
  return runs.map((run, i) => times[i]! - killedAt.get(held.find(({ id }) => id === run.id)!.worker_id)!);
}

/** When another worker resumed the run, in milliseconds since the epoch. */
async function resumedAt(lanefold: Lanefold, run: RunHandle): Promise<number> {
  for (; ; await delay(50)) {
    const lost = (await lanefold.runs.events(run)).find((event) => event.kind === 'llm_lost');
    if (lost) return lost.at.getTime();
  }
}

async function startWorker(databaseUrl: string, concurrency: number): Promise<Worker> {
  const args = ['--json', '--concurrency', String(concurrency)];
  const child = spawn(process.execPath, ['--import', 'tsx', path.resolve('workers/worker.ts'), ...args], {
    env: { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { id: (JSON.parse(line.toString()) as { worker_id: string }).worker_id, process: child };
}
