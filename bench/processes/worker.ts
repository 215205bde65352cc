/** A worker process with the agents of the benchmarks. */
import { createLanefold, type WorkerOptions } from 'lanefold';
import { strictAgent, strictModels } from '../limits/strict-provider.ts';
import { slowAgent, slowModels } from '../slow-model.ts';
import { givenOptions, serve } from '../support/serve.ts';
import { agent, models } from '../workload.ts';

export interface WorkerProcessOptions {
  databaseUrl: string;
  redisUrl: string | null;
  queuePrefix: string;
  worker: WorkerOptions;
  /** Where the model `strict` is, if the benchmark uses it. */
  providerUrl?: string;
}

export interface WorkerState {
  id: string;
  /** Calls of slow models without an answer yet, and all calls so far. */
  waiting: number;
  calls: number;
  residentBytes: number;
  /** Errors that the worker reported, by message without ids. */
  errors: Record<string, number>;
}

const { worker: workerOptions, providerUrl = '', ...options } = givenOptions<WorkerProcessOptions>();
const slow = slowModels();
const lanefold = await createLanefold({
  ...options,
  agents: [agent, slowAgent, strictAgent],
  models: { ...models, ...slow.models, ...strictModels(providerUrl) },
});
const errors: Record<string, number> = {};
const onError = (error: unknown) => {
  const message = (error instanceof Error ? error.message : String(error)).replace(/run_[\w.]+/g, '…');
  errors[message] = (errors[message] ?? 0) + 1;
};
const worker = await lanefold.startWorker({ ...workerOptions, onError });

serve({
  state: (): WorkerState => ({
    id: worker.id,
    waiting: slow.waiting,
    calls: slow.calls,
    residentBytes: process.memoryUsage().rss,
    errors,
  }),
  release: () => slow.release(),
  stop: () => lanefold.close(),
});
