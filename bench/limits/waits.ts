import { createLanefold } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Servers } from '../setup.ts';
import { startProcess } from '../support/process.ts';
import { agent, models, text400 } from '../workload.ts';
import { setLimits } from './set-limits.ts';

const processes = 2;
const runsAtOnce = 50;
const measuredMs = 10_000;

const sample = `select case when query like '%use_limits%' then 'limits' else 'other' end as what,
    coalesce(wait_event_type || ' ' || wait_event, 'at work') as wait
  from pg_stat_activity
  where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()`;

/** What sessions wait for while two worker processes take all their runs from the same three buckets. */
export async function waits(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  await setLimits(databaseUrl, {
    slots: { kind: 'concurrency', amount: 1_000_000 },
    calls: { kind: 'requests', amount: 1_000_000_000, per_ms: 60_000 },
    tokens: { kind: 'tokens', amount: 1_000_000_000_000, per_ms: 60_000 },
  });
  const options = { databaseUrl, redisUrl: servers.redisUrl ?? null, queuePrefix: 'waits' };
  const workers = await Promise.all(
    Array.from({ length: processes }, () =>
      startProcess('worker', { ...options, worker: { concurrency: runsAtOnce } }),
    ),
  );
  const lanefold = await createLanefold({ ...options, agents: [agent], models });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const end = performance.now() + measuredMs;
  const seen: Record<string, number> = {};
  const sampling = (async () => {
    while (performance.now() < end) {
      const { rows } = await pool.query<{ what: string; wait: string }>(sample);
      for (const { what, wait } of rows) seen[`${what}: ${wait}`] = (seen[`${what}: ${wait}`] ?? 0) + 1;
      await delay(10);
    }
  })();
  let runs = 0;
  const one = async () => {
    for (; performance.now() < end; runs++)
      await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', input: text400 }));
  };
  await Promise.all([sampling, ...Array.from({ length: runsAtOnce }, one)]);
  const all = Object.values(seen).reduce((sum, times) => sum + times, 0);
  console.log(
    `\n${processes} worker processes, ${runsAtOnce} runs at a time on the same three buckets: ${((runs * 1_000) / measuredMs).toFixed(0)} runs/s; what active sessions did:`,
  );
  for (const [what, times] of Object.entries(seen).toSorted(([, a], [, b]) => b - a))
    console.log(`  ${((100 * times) / all).toFixed(1).padStart(5)} %  ${what}`);
  await Promise.all(workers.map((worker) => worker.stop()));
  await pool.end();
  await lanefold.close();
}
