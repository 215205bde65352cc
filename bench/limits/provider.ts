import { createLanefold } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import type { Servers } from '../setup.ts';
import { backends, type Backend } from '../support/backends.ts';
import { startProcess } from '../support/process.ts';
import { text400 } from '../workload.ts';
import { setLimits } from './set-limits.ts';
import { allowed, startStrictProvider, strictAgent, strictModels } from './strict-provider.ts';

const measuredMs = 30_000;
const workers = 3;
const askers = 64;
const killEveryMs = 1_500;

/** As many runs as a provider lets pass, with limits that say what it lets pass: how many calls does it refuse? */
export async function provider(servers: Servers): Promise<void> {
  for (const backend of backends(servers))
    for (const kills of [false, true]) await saturate(backend, await servers.database(), kills);
}

async function saturate({ name, redisUrl }: Backend, databaseUrl: string, kills: boolean): Promise<void> {
  const scope = { provider: 'strict' };
  const per_ms = allowed.windowMs;
  await setLimits(databaseUrl, {
    requests: { kind: 'requests', scope, amount: allowed.requests, per_ms },
    tokens: { kind: 'tokens', scope, amount: allowed.tokens, per_ms },
  });
  const strict = await startStrictProvider();
  const options = { databaseUrl, redisUrl, queuePrefix: `strict-${name.toLowerCase()}` };
  const lanefold = await createLanefold({ ...options, agents: [strictAgent], models: strictModels(strict.url) });
  const worker = { concurrency: askers, leaseMs: 1_000, sweepMs: 200, maxClaimsWithoutProgress: 1_000 };
  const start = () => startProcess('worker', { ...options, worker, providerUrl: strict.url });
  const fleet = await Promise.all(Array.from({ length: workers }, start));

  const ask = async () => lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'caller', input: text400 }));
  const keepAsking = async (ms: number) => {
    const end = performance.now() + ms;
    const one = async () => {
      while (performance.now() < end) await ask();
    };
    await Promise.all(Array.from({ length: askers }, one));
  };
  const killing = new AbortController();
  const keepKilling = async () => {
    for (let killed = 0; ; killed++) {
      await delay(killEveryMs, undefined, { signal: killing.signal }).catch(() => {});
      if (killing.signal.aborted) return killed;
      await fleet.shift()!.kill();
      fleet.push(await start());
    }
  };
  await keepAsking(allowed.windowMs);
  const before = { ...strict.counts };
  const killed = kills ? keepKilling() : 0;
  const startedAt = performance.now();
  await keepAsking(measuredMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  killing.abort();
  const answered = strict.counts.answered - before.answered;
  const refused = strict.counts.refused - before.refused;
  const used = answered / ((allowed.requests * seconds * 1_000) / allowed.windowMs);
  console.log(
    `\nA provider that enforces ${allowed.requests} requests and ${allowed.tokens} tokens in ${allowed.windowMs / 1_000} s, ${workers} workers, ` +
      `${await killed} SIGKILLs, queue in ${name}: ${refused} of ${answered + refused} calls refused (goal 0), ${(100 * used).toFixed(0)} % of it used (goal 90 %)`,
  );
  await Promise.all(fleet.map((process) => process.stop()));
  await lanefold.close();
  await strict.close();
}
