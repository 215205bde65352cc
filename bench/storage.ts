import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { Servers } from './setup.ts';
import { agent, models, text400 } from './workload.ts';

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(2);

/** Measures the disk space of one thread, including indexes, after 250 and 500 runs of four messages. */
export async function storage(servers: Servers): Promise<void> {
  const url = await servers.database();
  const lanefold = await createLanefold({
    databaseUrl: url,
    redisUrl: servers.redisUrl ?? null,
    agents: [agent],
    models,
    queuePrefix: 'storage',
  });
  await lanefold.startWorker({ concurrency: 1 });
  const { id: threadId } = await lanefold.threads.create();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const measure = async () => {
    const { rows } = await pool.query<{ name: string; bytes: string }>(
      "select c.relname as name, pg_total_relation_size(c.oid) as bytes from pg_class c where c.relnamespace = 'lanefold'::regnamespace and c.relkind = 'r' order by 2 desc",
    );
    const total = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
    return { log: Number(rows.find((row) => row.name === '_entry')!.bytes), total, rows };
  };
  console.log('\nDisk space of one thread, including indexes, without a vacuum');
  for (const runs of [250, 500]) {
    for (let i = 0; i < 250; i++) {
      await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', threadId, input: text400 }));
    }
    const { log, total, rows } = await measure();
    console.log(`${runs} runs, ${runs * 4} messages: log ${megabytes(log)} MB, total ${megabytes(total)} MB`);
    if (runs === 500) {
      console.log(
        `  goal: log 2.0, total 3.5; ${rows.map((row) => `${row.name} ${megabytes(Number(row.bytes))}`).join(', ')}`,
      );
    }
  }
  await pool.end();
  await lanefold.close();
}
