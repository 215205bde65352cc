import { createLanefold } from 'lanefold';
import { newId } from '../../src/base/checks/ids.ts';
import type { Servers } from '../setup.ts';
import { agent, models, text400 } from '../workload.ts';

export interface Load {
  /** Runs per second, `atOnce` at a time, each in a new thread. */
  measure(seconds: number, atOnce: number): Promise<number>;
  close(): Promise<void>;
}

/** A client and a worker in this process, with the queue in Redis. */
export async function openLoad(servers: Servers, databaseUrl: string, concurrency: number): Promise<Load> {
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl: servers.redisUrl!,
    queuePrefix: newId('b').slice(-8),
    agents: [agent],
    models,
    poolSize: Math.max(10, concurrency),
  });
  await lanefold.startWorker({ concurrency });
  const complete = async () => {
    const run = await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', input: text400 }));
    if (run.status !== 'completed') throw new Error(`run ended as ${run.status}: ${run.error?.message}`);
  };
  return {
    async measure(seconds, atOnce) {
      const startedAt = performance.now();
      const endAt = startedAt + seconds * 1_000;
      let runs = 0;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          for (; performance.now() < endAt; runs++) await complete();
        }),
      );
      return (runs / (performance.now() - startedAt)) * 1_000;
    },
    close: () => lanefold.close(),
  };
}
