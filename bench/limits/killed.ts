import { createLanefold } from 'lanefold';
import pg from 'pg';
import type { WorkerState } from '../processes/worker.ts';
import type { Servers } from '../setup.ts';
import { slowAgent, slowModels } from '../slow-model.ts';
import { backends, type Backend } from '../support/backends.ts';
import { inTurn } from '../support/in-turn.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { text400 } from '../workload.ts';
import { setLimits } from './set-limits.ts';

const kills = 50;
const callsAtOnce = 10;
const withinMs = 120_000;

const limits = {
  slots: { kind: 'concurrency', amount: 1_000 },
  tokens: { kind: 'tokens', amount: 1_000_000_000, per_ms: 86_400_000 },
};

/** Kills workers between reserving and settling, and compares the buckets with the log after all runs have ended. */
export async function killed(servers: Servers): Promise<void> {
  for (const backend of backends(servers)) await killAndRecount(backend, await servers.database());
}

async function killAndRecount({ name, redisUrl }: Backend, databaseUrl: string): Promise<void> {
  await setLimits(databaseUrl, limits);
  const options = { databaseUrl, redisUrl, queuePrefix: `killed-${name.toLowerCase()}` };
  const lanefold = await createLanefold({ ...options, agents: [slowAgent], models: slowModels().models });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const worker = { concurrency: callsAtOnce, leaseMs: 1_000, sweepMs: 200, maxClaimsWithoutProgress: 1_000 };
  const start = () => startProcess('worker', { ...options, worker });
  const runs = await inTurn(2 * callsAtOnce, 20, () => lanefold.runs.enqueue({ agent: 'slow', input: text400 }));
  let interrupted = 0;
  let next = await start();
  for (let kill = 0; kill < kills; kill++) {
    const victim = next;
    const isBusy = async () => (await victim.ask<WorkerState>('state')).waiting === callsAtOnce;
    await until(isBusy, { withinMs, everyMs: 20 });
    const [successor] = await Promise.all([start(), victim.kill()]);
    interrupted += callsAtOnce;
    next = successor;
  }
  await next.ask('release');
  for (const run of runs) await lanefold.runs.wait(run);
  const settled = async () => (await pool.query('select from lanefold._limit_account')).rowCount === 0;
  await until(settled, { withinMs, everyMs: 100 });
  const { rows } = await pool.query<{ name: string; reserved: string; used: string; total: string }>(
    'select name, reserved, used, total from lanefold.limit_usage order by name',
  );
  const [log] = (
    await pool.query<{ tokens: string }>(
      "select sum((usage ->> 'total_tokens')::bigint) as tokens from lanefold.run where status = 'completed'",
    )
  ).rows;
  const [slots, tokens] = rows as [(typeof rows)[0], (typeof rows)[0]];
  console.log(
    `\n${kills} SIGKILLs, ${interrupted} calls between reserving and settling, queue in ${name}: the log has ${log!.tokens} tokens, ` +
      `the bucket ${tokens.total} (drift ${Number(tokens.total) - Number(log!.tokens)}); ${tokens.reserved} tokens and ${slots.used} slots are still reserved`,
  );
  await next.stop();
  await pool.end();
  await lanefold.close();
}
