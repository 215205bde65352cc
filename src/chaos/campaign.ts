import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentDefinition } from '../agents/agent.ts';
import { createLanefold } from '../lanefold.ts';
import { Fleet } from './fleet.ts';
import { inject, type Scenario } from './inject.ts';
import { scaled } from './intervals.ts';
import { randomOf } from './random.ts';
import { recoveryTimes } from './recovery.ts';
import type { CampaignReport } from './report.ts';
import { summarise } from './report.ts';
import { kindsFor, type FaultKind } from './schedule.ts';
import { startChaosPostgres } from './services/postgres.ts';
import { startProxy } from './services/proxy.ts';
import { startChaosRedis } from './services/redis.ts';
import { judge } from './check.ts';
import { Watch } from './watch.ts';
import { lateStarts, startWitness, testify } from './history.ts';
import { chaosAgent } from './workload/agent.ts';
import { ask, converse, type Acknowledged, type OwnWork } from './workload/conversation.ts';
import { Journal, readJournal } from './workload/journal.ts';

export interface CampaignOptions {
  queue: 'postgres' | 'redis';
  seed: number;
  scenarios: number;
  workers: number;
  /** Conversations at once. */
  concurrency: number;
  /** Of injecting, milliseconds. */
  timeLimitMs: number;
  kinds: readonly FaultKind[];
  /** Factor on the product's own intervals. */
  scale: number;
  /** The user's agents, the module they come from, and the work for them. */
  own?: OwnWork & { file: string; agents: readonly AgentDefinition[] };
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/** Runs of a built-in thread, so that contexts stay short. */
const runsPerThread = 5;

/**
 * One campaign on services of its own: works, breaks, waits until all is at rest, and judges. The folder with the
 * database is kept where there is a violation.
 *
 * @throws LanefoldError `embedded_postgres_failed`, `queue_unreachable`
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { queue, seed, scenarios: wanted, kinds, own, signal, onProgress } = options;
  const intervals = scaled(options.scale);
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-chaos-'));
  // PostgreSQL may have to run as another user
  await chmod(dir, 0o711);
  const journalDir = path.join(dir, 'journal');
  await mkdir(journalDir);
  const closers: (() => Promise<unknown>)[] = [() => rm(journalDir, { recursive: true, force: true })];
  let keep = true;
  try {
    const postgres = await startChaosPostgres(dir);
    closers.push(() => postgres.stop());
    const redis = queue === 'redis' ? await startChaosRedis(dir) : undefined;
    closers.push(async () => redis?.stop());
    const watch = new Watch(postgres.adminUrl);
    closers.push(() => watch.close());
    await startWitness(watch);

    const door = await startProxy(postgres.port);
    closers.push(() => door.close());
    const lanefold = await createLanefold({
      databaseUrl: postgres.url(door.port),
      directUrl: postgres.url(door.port),
      redisUrl: redis ? `redis://127.0.0.1:${redis.port()}` : null,
      agents: own?.agents ?? [chaosAgent(new Journal(journalDir))],
    });
    closers.push(() => lanefold.close());
    const fleet = await Fleet.start({
      size: options.workers,
      postgresPort: postgres.port,
      redisPort: redis?.port,
      worker: (postgresPort, redisPort) => ({
        databaseUrl: postgres.url(postgresPort),
        redisUrl: redisPort === undefined ? null : `redis://127.0.0.1:${redisPort}`,
        worker: { ...intervals, concurrency: Math.max(2, Math.ceil((2 * options.concurrency) / options.workers)) },
        journal: journalDir,
        ...(own ? { agents: path.resolve(own.file) } : {}),
      }),
      logFile: path.join(dir, 'workers.log'),
    });
    closers.push(() => fleet.stop());

    const startedAt = performance.now();
    const acknowledged: Acknowledged = { runs: [], inputs: [], operations: [] };
    const giveUp = new AbortController();
    const injecting = new AbortController();
    const client = { lanefold, acknowledged, signal: giveUp.signal };
    const slots = Array.from({ length: options.concurrency }, async (_, slot) => {
      const random = randomOf(seed, `conversation ${slot}`);
      for (let n = 0; !injecting.signal.aborted; n++) {
        if (own) await ask(client, `chaos-${slot}-${n}`, own);
        else await converse(client, `chaos-${slot}-${Math.floor(n / runsPerThread)}`, `${slot}.${n}`, random);
      }
    });
    const working = Promise.all(slots);
    working.catch(() => injecting.abort());

    const rig = { fleet, postgres, redis, watch, leaseMs: intervals.leaseMs };
    // a timer of our own: a timeout signal that only AbortSignal.any knows of may be collected before it fires
    const limit = setTimeout(() => injecting.abort(), options.timeLimitMs);
    closers.push(async () => clearTimeout(limit));
    const ends = AbortSignal.any([signal, injecting.signal]);
    const counts = new Map<FaultKind, number>();
    const scenarios = await inject(rig, {
      seed,
      scenarios: wanted,
      kinds: kindsFor(queue, kinds),
      signal: ends,
      onScenario: ({ no, kind }: Scenario) => {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        const done = [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
        onProgress(`${queue}: ${no} of ${wanted} scenarios (${done}), ${acknowledged.runs.length} runs`);
      },
    });
    const reached = scenarios.length >= wanted;
    injecting.abort();

    onProgress(`${queue}: waiting for the runs to end`);
    const patience = new AbortController();
    const settled = delay(Math.max(60_000, 30 * intervals.leaseMs), undefined, { signal: patience.signal });
    await Promise.race([working, settled.catch(() => {})]);
    patience.abort();
    giveUp.abort();
    const kills = fleet.kills;
    await fleet.stop();
    onProgress(`${queue}: checking ${acknowledged.runs.length} runs`);
    await testify(watch, { starts: readJournal(journalDir), workers: fleet.pids, acknowledged });
    const verdict = await judge(watch);
    const report = await summarise(watch, {
      queue,
      reached,
      scenarios,
      times: await recoveryTimes(watch, scenarios),
      kills,
      ownDeaths: fleet.ownDeaths,
      lateStarts: await lateStarts(watch),
      verdict,
      elapsedMs: performance.now() - startedAt,
      dir,
    });
    keep = report.violations.length > 0;
    await working.catch((error: unknown) => {
      keep = true;
      throw error;
    });
    return report;
  } finally {
    for (const closer of closers.reverse()) await closer().catch(() => {});
    if (!keep) await rm(dir, { recursive: true, force: true });
  }
}
