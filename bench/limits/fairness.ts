import { createLanefold, type Lanefold } from 'lanefold';
import { spreadOf } from '../../src/ops/chaos/report.ts';
import type { Servers } from '../setup.ts';
import { slowAgent, slowModels } from '../slow-model.ts';
import { backends, type Backend } from '../support/backends.ts';
import { inTurn } from '../support/in-turn.ts';
import { text400 } from '../workload.ts';
import { setLimits } from './set-limits.ts';

const slots = 20;
const large = 10_000;
const small = { runs: 100, atOnce: 10 };
// calls that all take as long end together, and a run that just misses them waits for the next ones to end
const model = 'latency:250-750';

/**
 * Ten runs at a time of a small customer, alone and while ten thousand runs of a large one wait for the same slots, which
 * the customers share in turns.
 */
export async function fairness(servers: Servers): Promise<void> {
  for (const backend of backends(servers)) await besideLarge(backend, await servers.database());
}

async function besideLarge({ name, redisUrl }: Backend, databaseUrl: string): Promise<void> {
  await setLimits(databaseUrl, { fair: { kind: 'concurrency', amount: slots, share_by: 'customer' } });
  const queuePrefix = `fair-${name.toLowerCase()}`;
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl,
    queuePrefix,
    agents: [slowAgent],
    models: slowModels().models,
  });
  await lanefold.startWorker({ concurrency: 50 });
  await measure(lanefold);
  const alone = await measure(lanefold);
  const startedAt = performance.now();
  await lanefold.runs.enqueueMany(Array.from({ length: large }, () => request('large')));
  const tookS = (performance.now() - startedAt) / 1_000;
  const beside = await measure(lanefold);
  const waiting = (await lanefold.limits.usage())[0]!.waiting;
  console.log(
    `\nA small customer's runs of 250 to 750 ms, queue in ${name}: p50 ${alone.p50} ms, p95 ${alone.p95} ms alone; ` +
      `p50 ${beside.p50} ms, p95 ${beside.p95} ms beside ${large} runs of another (${(beside.p95 / alone.p95).toFixed(2)} times; goal 2). ` +
      `The ${large} were accepted in ${tookS.toFixed(1)} s, and ${waiting} still waited at the end`,
  );
  await lanefold.close();
}

const request = (customer: string) => ({ agent: 'slow', input: text400, model, limitKeys: { customer } }) as const;

async function measure(lanefold: Lanefold) {
  const times = await inTurn(small.runs, small.atOnce, async () => {
    const startedAt = performance.now();
    await lanefold.runs.wait(await lanefold.runs.enqueue(request('small')));
    return Math.round(performance.now() - startedAt);
  });
  return spreadOf(times);
}
