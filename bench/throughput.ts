import { createLanefold } from 'lanefold';
import pg from 'pg';
import { openQueue } from '../src/runs/queue/open-queue.ts';
import { newId } from '../src/base/checks/ids.ts';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';
import { agent, models, text400 } from './workload.ts';

/** Commits per run: enqueue, claim, model turn with calls, tool round, final turn. */
const commitsPerRun = 5;

const each = async (n: number, concurrency: number, work: (i: number) => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < n) await work(next++);
    }),
  );
  return (n / (performance.now() - startedAt)) * 1000;
};

/**
 * Measures runs per second from enqueue to completed, compared with the floor on the same machine in the same minute.
 */
export async function throughput(servers: Servers, { runs, rounds }: { runs: number; rounds: number }): Promise<void> {
  console.log('\nRuns per second, enqueue to completed (median of %d rounds, interleaved with the floor)', rounds);
  console.log(
    'floor = 1 / (%d / commits + 1 / jobs): prepared single-function commits per second, no-op jobs per second',
    commitsPerRun,
  );
  for (const backend of ['postgres', 'redis'] as const) {
    if (backend === 'redis' && !servers.redisUrl) {
      console.log('redis: skipped, no redis-server on the PATH');
      continue;
    }
    for (const concurrency of [1, 10, 50]) {
      const n = concurrency === 1 ? Math.ceil(runs / 4) : runs;
      const url = await servers.database();
      const redisUrl = backend === 'redis' ? servers.redisUrl : undefined;
      const floor = await openFloor(url, redisUrl, concurrency);
      const lanefold = await createLanefold({
        databaseUrl: url,
        redisUrl: redisUrl ?? null,
        agents: [agent],
        models,
        poolSize: Math.max(2, concurrency),
        queuePrefix: newId('b').slice(-8),
      });
      await lanefold.startWorker({ concurrency });
      const completeRuns = () =>
        each(n, concurrency, async () => {
          const run = await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', input: text400 }));
          if (run.status !== 'completed') throw new Error(`run ended as ${run.status}: ${run.error?.message}`);
        });
      await completeRuns();
      const rates = { commits: [] as number[], jobs: [] as number[], runs: [] as number[] };
      for (let round = 0; round < rounds; round++) {
        rates.commits.push(await each(n * commitsPerRun, concurrency, floor.commit));
        rates.jobs.push(await each(n, concurrency, floor.job));
        rates.runs.push(await completeRuns());
      }
      const [commits, jobs, own] = [median(rates.commits), median(rates.jobs), median(rates.runs)];
      const limit = 1 / (commitsPerRun / commits + 1 / jobs);
      console.log(
        `${backend.padEnd(8)} c=${String(concurrency).padEnd(3)} ${own.toFixed(0).padStart(5)} runs/s  floor ${limit.toFixed(0).padStart(5)}  ${((own / limit) * 100).toFixed(0).padStart(4)} %   (${commits.toFixed(0)} commits/s, ${jobs.toFixed(0)} jobs/s)`,
      );
      await lanefold.close();
      await floor.close();
    }
  }
}

/**
 * The floor, the least work of such a system: a prepared call of a function that numbers and inserts a message, and a
 * no-op job.
 */
export async function openFloor(url: string, redisUrl: string | undefined, concurrency: number) {
  const pool = new pg.Pool({ connectionString: url, max: Math.max(2, concurrency) });
  await pool.query(`
    create table floor_thread (id text primary key, rev bigint not null default 0) with (fillfactor = 70);
    create table floor_entry (thread_id text, seq bigint, payload jsonb not null, primary key (thread_id, seq));
    create function floor_append(p_thread text, p_payload jsonb) returns bigint language plpgsql as $$
    declare v bigint;
    begin
      update floor_thread set rev = rev + 1 where id = p_thread returning rev into v;
      insert into floor_entry values (p_thread, v - 1, p_payload);
      return v;
    end $$;`);
  for (let i = 0; i < concurrency; i++) await pool.query('insert into floor_thread (id) values ($1)', [`t${i}`]);
  const payload = { role: 'user', content: text400 };

  const queue = openQueue({ redisUrl, databaseUrl: url, prefix: newId('f').slice(-8) });
  await queue.ready();
  const done = new Map<string, () => void>();
  await queue.work(
    (job) => {
      done.get(job.data.run_id)?.();
      return Promise.resolve({ status: 'completed' });
    },
    { concurrency, name: 'floor', lockMs: 6_000, stalledMs: 2_000, onError: console.error },
  );
  let jobs = 0;
  return {
    commit: (i: number) =>
      pool.query({ name: 'floor', text: 'select floor_append($1, $2)', values: [`t${i % concurrency}`, payload] }),
    job: async () => {
      const id = `floor${jobs++}`;
      const ended = new Promise<void>((resolve) => done.set(id, resolve));
      await queue.add({ thread_id: 't', run_id: id, enqueue_no: 1, agent: 'floor' }, 0);
      await ended;
      done.delete(id);
    },
    close: async () => {
      await queue.close();
      await pool.end();
    },
  };
}
