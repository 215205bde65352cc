import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LanefoldError } from '../../base/errors.ts';
import { createLanefold } from '../../lanefold/create.ts';
import type { LanefoldDefinition } from '../../lanefold/definition.ts';
import { Fleet } from './fleet.ts';
import type { Backend } from '../../runs/queue/queue.ts';
import { readExercised } from './exercised.ts';
import { lateStarts, recordHistory, startHistory } from './history.ts';
import { inject } from './inject.ts';
import { scaled } from './intervals.ts';
import { Observer } from './observer.ts';
import { concludeHistory, type HistoryFile } from './recording/conclude.ts';
import { recorderIn } from './recording/history-files.ts';
import { recordStatements } from './recording/record-statements.ts';
import { recoveryTimes } from './recovery.ts';
import { summarise, type CampaignReport } from './report.ts';
import { runChecks } from './run-checks.ts';
import { kindsFor, type FaultKind } from './schedule.ts';
import { startChaosPostgres } from './services/postgres.ts';
import { startProvider } from './provider/provider.ts';
import { providerModels } from './provider/models.ts';
import { randomOf } from './random.ts';
import { startProxy } from './services/proxy.ts';
import { startReceiver } from './services/receiver.ts';
import { startRedis, type RedisServer } from './services/redis.ts';
import { settle } from './settle.ts';
import { chaosAgents, providerAgents } from './workload/agents.ts';
import { nothingAcknowledged } from './workload/client.ts';
import type { CustomWorkload } from './workload/conversation.ts';
import { Journal, readAsks, readStarts } from './workload/journal.ts';
import { haveConversations } from './workload/conversations.ts';
import { hurryWebhooks, setWebhooks } from './workload/webhooks.ts';
import { after, delay } from '../../base/common/timer.ts';

export interface CampaignOptions {
  queue: Backend;
  seed: number;
  scenarios: number;
  workers: number;
  /** Concurrent conversations. */
  concurrency: number;
  /** How long to inject faults, in milliseconds. */
  timeLimitMs: number;
  kinds: readonly FaultKind[];
  /** Factor applied to the product's default intervals. */
  scale: number;
  /** The user's agents, their module and their workload. */
  custom?: CustomWorkload & { file: string; definition: LanefoldDefinition };
  /** A file for the history; it is checked in any case. */
  history?: HistoryFile;
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/**
 * Runs one campaign on its own services: applies load, injects faults, waits until every run has ended, and runs the
 * checks. Keeps the folder with the database if there is a violation.
 *
 * @throws LanefoldError `embedded_postgres_failed`, `queue_unreachable`
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { queue, seed, scenarios: wanted, kinds, custom, signal, onProgress } = options;
  const intervals = scaled(options.scale);
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-chaos-'));
  // PostgreSQL may have to run as another user
  await chmod(dir, 0o711);
  const journalDir = path.join(dir, 'journal');
  await mkdir(journalDir);
  const journal = new Journal(journalDir);
  const closers: (() => Promise<unknown>)[] = [() => rm(journalDir, { recursive: true, force: true })];
  let keep = true;
  try {
    const postgres = await startChaosPostgres(dir);
    closers.push(() => postgres.stop());
    const redis = queue === 'redis' ? await requireRedis(dir) : undefined;
    closers.push(async () => redis?.stop());
    const observer = new Observer(postgres.adminUrl);
    closers.push(() => observer.close());
    await startHistory(observer);
    if (kinds.includes('failover')) await postgres.addStandby();

    const provider = await startProvider(seed);
    closers.push(() => provider.close());
    const receiver = await startReceiver(randomOf(seed, 'receiver'));
    closers.push(() => receiver.close());
    const clientProxy = await startProxy(() => ({ port: postgres.port() }));
    closers.push(() => clientProxy.close());
    const lanefold = await createLanefold({
      databaseUrl: postgres.url(clientProxy.port),
      directUrl: postgres.url(clientProxy.port),
      ...{ redisUrl: redis?.url ?? null, readUrl: null },
      ...(custom?.definition ?? {
        agents: [...chaosAgents(journal), ...providerAgents(journal)],
        models: providerModels(provider.url),
      }),
      privateWebhooks: true,
    });
    closers.push(() => lanefold.close());
    const recorder = recorderIn(journalDir, 'client');
    const stopListening = recordStatements(recorder);
    closers.push(async () => {
      stopListening();
      recorder.stop();
    });
    const fleet = await Fleet.start({
      size: options.workers,
      postgresPort: postgres.port,
      redisPort: redis && (() => redis.port),
      worker: (postgresPort, redisPort) => ({
        databaseUrl: postgres.url(postgresPort),
        redisUrl: redisPort === undefined ? null : `redis://127.0.0.1:${redisPort}`,
        worker: {
          ...intervals,
          concurrency: Math.ceil((2 * options.concurrency + 12) / options.workers),
          webhookTimeoutMs: 1_000,
        },
        journal: journalDir,
        ...(custom ? { agents: path.resolve(custom.file) } : { providerUrl: provider.url }),
      }),
      logFile: path.join(dir, 'workers.log'),
    });
    closers.push(() => fleet.stop());

    // a fault that hits before there is any worker says nothing about recovery
    await fleet.ready(signal);
    const startedAt = performance.now();
    const acknowledged = nothingAcknowledged();
    const giveUp = new AbortController();
    const injecting = new AbortController();
    const client = { lanefold, acknowledged, signal: giveUp.signal };
    if (!custom) await setWebhooks(client, receiver);
    const webhooksSince = Date.now();
    const workload = { seed, concurrency: options.concurrency, custom };
    const conversations = haveConversations(client, workload, injecting.signal);
    conversations.catch(() => injecting.abort());

    const rig = { fleet, postgres, redis, observer, leaseMs: intervals.leaseMs };
    const limit = after(options.timeLimitMs, () => injecting.abort());
    closers.push(async () => limit.cancel());
    const stop = AbortSignal.any([signal, injecting.signal]);
    const counts = new Map<FaultKind, number>();
    const scenarios = await inject(rig, {
      seed,
      scenarios: wanted,
      kinds: kindsFor(queue, kinds),
      signal: stop,
      onScenario: ({ no, kind }) => {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        const done = [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
        onProgress(`${queue}: ${no} of ${wanted} scenarios (${done}), ${acknowledged.runs.length} runs`);
      },
    });
    const reached = scenarios.length >= wanted;
    injecting.abort();

    onProgress(`${queue}: waiting for the runs to end`);
    const patience = new AbortController();
    const settled = delay(Math.max(60_000, 30 * intervals.leaseMs), { signal: patience.signal });
    await Promise.race([conversations, settled.catch(() => {})]);
    patience.abort();
    receiver.heal();
    await settle(observer, Math.max(90_000, 30 * intervals.leaseMs), () =>
      custom ? Promise.resolve() : hurryWebhooks(client),
    );
    giveUp.abort();
    const kills = fleet.kills;
    await fleet.stop();
    onProgress(`${queue}: checking ${acknowledged.runs.length} runs`);
    await recordHistory(observer, {
      ...{ starts: readStarts(journalDir), asks: readAsks(journalDir), workers: fleet.pids, acknowledged },
      ...{ calls: provider.calls, requests: receiver.requests, crashes: postgres.crashes },
      ...(custom ? {} : { webhooksSince }),
    });
    const checked = await runChecks(observer);
    const history = await concludeHistory(observer, recorder, journalDir);
    checked.violations.push(...history.violations);
    const report = await summarise(observer, {
      campaign: {
        ...{ queue, seed, workers: options.workers, concurrency: options.concurrency },
        ...{ lease_ms: intervals.leaseMs, sweep_ms: intervals.sweepMs },
      },
      reached,
      scenarios,
      times: await recoveryTimes(observer, scenarios),
      kills,
      unexpectedExits: fleet.unexpectedExits,
      lateStarts: await lateStarts(observer),
      exercised: await readExercised(observer),
      checked,
      operations: history.operations,
      elapsedMs: performance.now() - startedAt,
      dir,
    });
    keep = report.violations.length > 0;
    if (keep) await history.write({ file: path.join(dir, 'history.jsonl'), format: 'jsonl' });
    if (options.history) await history.write(options.history);
    await conversations.catch((error: unknown) => {
      keep = true;
      throw error;
    });
    return report;
  } finally {
    for (const closer of closers.reverse()) await closer().catch(() => {});
    if (!keep) await rm(dir, { recursive: true, force: true });
  }
}

async function requireRedis(dir: string): Promise<RedisServer> {
  const redis = await startRedis(dir);
  if (redis) return redis;
  throw new LanefoldError('queue_unreachable', 'Could not start redis-server.', {
    hint: 'Put redis-server on the PATH, or use --queue postgres.',
  });
}
