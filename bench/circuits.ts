import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider';
import { createLanefold, defineAgent } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { backends, type Backend } from './support/backends.ts';
import { inTurn } from './support/in-turn.ts';
import { until } from './support/until.ts';
import type { Servers } from './setup.ts';
import { instantModel } from './workload.ts';

const count = 1_000;
const workers = 4;
const downMs = 20_000;
const callMs = 50;

/** A provider that is down for a while, and notes when it was called. */
function failing(): { model: LanguageModelV4; calls: number[]; isDown: boolean } {
  const quick = instantModel(0);
  const state = {
    calls: [] as number[],
    isDown: true,
    model: {
      ...quick,
      async doStream(request) {
        state.calls.push(performance.now());
        await delay(callMs);
        if (!state.isDown) return quick.doStream(request);
        throw new APICallError({ message: 'Overloaded.', url: 'x', requestBodyValues: {}, statusCode: 529 });
      },
    } as LanguageModelV4,
  };
  return state;
}

const ways = [
  { way: 'with circuits' },
  { way: 'without circuits', circuits: false as const },
  { way: 'with circuits and a second model', others: ['standing-in:x'] },
];

/**
 * Lets a provider be down for 20 s while 1,000 runs want it, with four workers: how many fail, how often it is called meanwhile, and
 * how many have ended by then.
 */
export async function circuits(servers: Servers): Promise<void> {
  for (const backend of backends(servers)) for (const way of ways) await outage(backend, await servers.database(), way);
}

async function outage(
  { name, redisUrl }: Backend,
  databaseUrl: string,
  { way, circuits, others = [] }: (typeof ways)[number],
): Promise<void> {
  const provider = failing();
  const options = {
    databaseUrl,
    redisUrl,
    queuePrefix: `circuits-${name.toLowerCase()}`,
    models: { 'failing:x': provider.model, 'standing-in:x': instantModel(0) },
    agents: [defineAgent({ name: 'asks', model: ['failing:x', ...others] })],
    ...(circuits === undefined ? {} : { circuits }),
  };
  const all = await Promise.all(Array.from({ length: workers }, () => createLanefold(options)));
  await Promise.all(all.map((one) => one.startWorker()));
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const statuses = async () => {
    const { rows } = await pool.query<{ status: string; n: number }>(
      'select status, count(*)::int as n from lanefold.run group by status',
    );
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  };
  const startedAt = performance.now();
  await inTurn(count, 20, () => all[0]!.runs.enqueue({ agent: 'asks', input: 'go' }));
  await delay(Math.max(0, downMs - (performance.now() - startedAt)));
  const { completed: already = 0 } = await statuses();
  provider.isDown = false;
  const upAt = performance.now();
  const ended = async () => {
    const { completed = 0, failed = 0 } = await statuses();
    return completed + failed === count;
  };
  const allEnded = await until(ended, { withinMs: 300_000, everyMs: 250 });
  const endMs = performance.now() - upAt;
  const found = await statuses();
  const down = provider.calls.filter((at) => at < upAt);
  const perSecond = Array.from(
    { length: downMs / 1_000 },
    (_, second) => down.filter((at) => Math.floor((at - startedAt) / 1_000) === second).length,
  );
  console.log(
    `\n${count} runs, ${workers} workers, the provider down for ${downMs / 1_000} s, queue in ${name}, ${way}`,
  );
  console.log(
    `  failed ${found['failed'] ?? 0}, completed ${found['completed'] ?? 0}, ${already} of them meanwhile${allEnded ? '' : ' (NOT ALL)'}, all ended ${(endMs / 1_000).toFixed(1)} s after it was up again`,
  );
  console.log(`  calls while it was down ${down.length}; by second: ${perSecond.join(' ')}`);
  await Promise.all(all.map((one) => one.close()));
  await pool.end();
}
