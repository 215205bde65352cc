import { createLanefold, defineAgent } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { instantModel, text400 } from './workload.ts';

const count = 1_000;

/** Measures resident memory while a thousand runs wait for a slow model in one worker process, and whether a job stalls. */
export async function memory(servers: Servers): Promise<void> {
  const url = await servers.database();
  let waiting = 0;
  let answer!: () => void;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const quick = instantModel(0);
  const slow = {
    ...quick,
    doStream: async (options: Parameters<typeof quick.doStream>[0]) => (
      waiting++,
      await answered,
      quick.doStream(options)
    ),
  };
  const agent = defineAgent({ name: 'slow', model: 'slow', idleTimeoutMs: 600_000 });
  const lanefold = await createLanefold({
    databaseUrl: url,
    redisUrl: servers.redisUrl ?? null,
    agents: [agent],
    models: { slow },
    queuePrefix: 'memory',
  });
  await lanefold.startWorker({ concurrency: count });
  const runs = [];
  for (let i = 0; i < count; i++) runs.push(await lanefold.runs.enqueue({ agent: 'slow', input: text400 }));
  while (waiting < count) await new Promise((resolve) => setTimeout(resolve, 50));
  let peak = 0;
  // three times the duration of BullMQ's lock, so that a job whose lock is not renewed stalls
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  answer();
  for (const run of runs) await lanefold.runs.wait(run);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const { rows } = await pool.query(
    `select (select count(distinct run_id) from lanefold.run_event where kind = 'worker_lost') as reclaimed,
       (select count(*) from lanefold.run where status = 'completed') as completed`,
  );
  console.log(
    `\n${count} runs waiting for 20 s in one worker process: ${(peak / 2 ** 20).toFixed(0)} MiB resident (goal 512), ${rows[0].reclaimed} claimed twice, ${rows[0].completed} completed`,
  );
  await pool.end();
  await lanefold.close();
}
