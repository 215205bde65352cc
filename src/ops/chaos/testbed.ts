import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LanefoldError } from '../../base/errors.ts';
import { createLanefold } from '../../lanefold/create.ts';
import type { LanefoldDefinition } from '../../lanefold/definition.ts';
import type { Backend } from '../../runs/queue/queue.ts';
import { Fleet } from './fleet.ts';
import { startHistory } from './history.ts';
import { Observer, randomOf, scaled, type FaultKind } from './schedule.ts';
import { type Provider, providerModels, startProvider } from './provider.ts';
import { recorderIn, recordStatements } from './recording/record-statements.ts';
import { type ChaosPostgres, startChaosPostgres } from './services/postgres.ts';
import { startProxy } from './services/proxy.ts';
import { type Receiver, startReceiver } from './services/receiver.ts';
import { type RedisServer, startRedis } from './services/redis.ts';
import { chaosAgents, providerAgents } from './workload/tools.ts';
import { Journal } from './workload/journal.ts';

export interface TestbedOptions {
  queue: Backend;
  seed: number;
  workers: number;
  /** Concurrent conversations. */
  concurrency: number;
  kinds: readonly FaultKind[];
  /** Factor applied to the product's default intervals. */
  scale: number;
  /** The user's agents, and their module. */
  custom?: { file: string; definition: LanefoldDefinition };
}

/** Everything a campaign works on: its own services, a library behind a proxy, and worker processes. */
export type Testbed = Awaited<ReturnType<typeof startTestbed>>;

/**
 * Starts the services, the library and the workers of a campaign in a new folder.
 *
 * @param closers gets what ends each of them, in starting order, also if a later one cannot start
 * @throws LanefoldError `embedded_postgres_failed`, `queue_unreachable`
 */
export async function startTestbed(options: TestbedOptions, dir: string, closers: (() => unknown)[]) {
  const { seed, kinds } = options;
  const journalDir = path.join(dir, 'journal');
  await mkdir(journalDir);
  closers.push(() => rm(journalDir, { recursive: true, force: true }));
  const postgres = await startChaosPostgres(dir);
  closers.push(() => postgres.stop());
  const redis = options.queue === 'redis' ? await startRedis(dir) : undefined;
  closers.push(() => redis?.stop());
  if (options.queue === 'redis' && !redis) throw noRedisServer();
  const observer = new Observer(postgres.adminUrl);
  closers.push(() => observer.close());
  await startHistory(observer);
  if (kinds.includes('failover')) await postgres.addStandby();

  const provider = await startProvider(seed);
  closers.push(() => provider.close());
  const receiver = await startReceiver(randomOf(seed, 'receiver'));
  closers.push(() => receiver.close());
  const services: Services = { dir, journalDir, postgres, redis, observer, provider, receiver };
  const lanefold = await openLibrary(options, services, closers);
  const recorder = recorderIn(journalDir, 'client');
  const stopListening = recordStatements(recorder);
  closers.push(() => {
    stopListening();
    recorder.stop();
  });
  const fleet = await startFleet(options, services);
  closers.push(() => fleet.stop());
  return { ...services, lanefold, recorder, fleet };
}

/** Creates the folder of a campaign. */
export async function createFolder(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-chaos-'));
  // PostgreSQL may have to run as another user
  await chmod(dir, 0o711);
  return dir;
}

interface Services {
  dir: string;
  journalDir: string;
  postgres: ChaosPostgres;
  redis: RedisServer | undefined;
  observer: Observer;
  provider: Provider;
  receiver: Receiver;
}

/** The library of the clients, whose connections the faults do not reach but the ends of servers do. */
async function openLibrary({ custom }: TestbedOptions, services: Services, closers: (() => unknown)[]) {
  const { postgres, redis, provider } = services;
  const proxy = await startProxy(() => ({ port: postgres.port() }));
  closers.push(() => proxy.close());
  const journal = new Journal(services.journalDir);
  const lanefold = await createLanefold({
    databaseUrl: postgres.url(proxy.port),
    directUrl: postgres.url(proxy.port),
    redisUrl: redis?.url ?? null,
    readUrl: null,
    ...(custom?.definition ?? {
      agents: [...chaosAgents(journal), ...providerAgents(journal)],
      models: providerModels(provider.url),
    }),
    privateWebhooks: true,
  });
  closers.push(() => lanefold.close());
  return lanefold;
}

const startFleet = (options: TestbedOptions, { dir, journalDir, postgres, redis, provider }: Services) =>
  Fleet.start({
    size: options.workers,
    postgresPort: postgres.port,
    redisPort: redis && (() => redis.port),
    worker: (postgresPort, redisPort) => ({
      databaseUrl: postgres.url(postgresPort),
      redisUrl: redisPort === undefined ? null : `redis://127.0.0.1:${redisPort}`,
      worker: {
        ...scaled(options.scale),
        concurrency: Math.ceil((2 * options.concurrency + 12) / options.workers),
        webhookTimeoutMs: 1_000,
      },
      journal: journalDir,
      ...(options.custom ? { agents: path.resolve(options.custom.file) } : { providerUrl: provider.url }),
    }),
    logFile: path.join(dir, 'workers.log'),
  });

const noRedisServer = () =>
  new LanefoldError('queue_unreachable', 'Could not start redis-server.', {
    hint: 'Put redis-server on the PATH, or use --queue postgres.',
  });
