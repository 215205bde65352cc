import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createLanefold, migrate } from 'lanefold';
import { countStatements } from '../support/count-statements.ts';
import { agent, instantModel, text400 } from '../workload.ts';
import type { System, SystemOptions } from './system.ts';

/** A client and a worker in one process, with default settings except the worker's concurrency. */
export async function open({ databaseUrl, redisUrl, concurrency }: SystemOptions): Promise<System> {
  const statements = countStatements();
  const firstCallsMs: number[] = [];
  let requestedAt = 0;
  const quick = instantModel(1);
  const timed: LanguageModelV4 = {
    ...quick,
    doStream: (options) => {
      if (options.prompt.at(-1)!.role === 'user') firstCallsMs.push(performance.now() - requestedAt);
      return quick.doStream(options);
    },
  };
  await migrate(databaseUrl);
  const queuePrefix = new URL(databaseUrl).pathname.slice(1);
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl,
    queuePrefix,
    agents: [agent],
    models: { bench: () => timed },
  });
  await lanefold.startWorker({ concurrency });
  return {
    async run() {
      requestedAt = performance.now();
      const run = await lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', input: text400 }));
      if (run.status !== 'completed') throw new Error(`run ended as ${run.status}: ${run.error?.message}`);
    },
    close: () => lanefold.close(),
    statements,
    firstCallsMs,
  };
}
