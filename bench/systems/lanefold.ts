import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { createLanefold, migrate } from 'lanefold';
import { slowAgent, slowModels } from '../slow-model.ts';
import { countStatements } from '../support/count-statements.ts';
import { fillBacklog } from '../support/fill-backlog.ts';
import { LongThreads } from '../support/long-threads.ts';
import { agent, instantModel, text400 } from '../workload.ts';
import type { System, SystemOptions } from './system.ts';

/** Conditions that the runs meet. */
export interface Conditions {
  /** Runs that are queued behind the measured ones. */
  backlog?: number;
  /** Size of the context that each run begins with. */
  contextBytes?: number;
}

/** A client and a worker in one process, with default settings except the worker's concurrency. */
export async function open(options: SystemOptions & Conditions): Promise<System> {
  const { databaseUrl, redisUrl, concurrency, backlog, contextBytes } = options;
  const statements = countStatements();
  const firstCallsMs: number[] = [];
  const requestedAt = new Map<string, number>();
  const quick = instantModel(1);
  const timed: LanguageModelV4 = {
    ...quick,
    doStream: (request) => {
      const input = questionOf(request.prompt);
      if (input !== undefined) firstCallsMs.push(performance.now() - requestedAt.get(input)!);
      return quick.doStream(request);
    },
  };
  await migrate(databaseUrl);
  const queuePrefix = new URL(databaseUrl).pathname.slice(1);
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl,
    queuePrefix,
    agents: [agent, slowAgent],
    models: { bench: () => timed, ...slowModels().models },
  });
  const threads = contextBytes ? await LongThreads.create(lanefold, concurrency, contextBytes) : undefined;
  if (backlog) await fillBacklog(lanefold, backlog);
  await lanefold.startWorker({ concurrency });
  let requests = 0;
  return {
    async run() {
      const input = `${requests++} ${text400}`.slice(0, text400.length);
      const threadId = threads?.take();
      requestedAt.set(input, performance.now());
      const run = await lanefold.runs.wait(
        await lanefold.runs.enqueue({ agent: 'bench', input, ...(threadId === undefined ? {} : { threadId }) }),
      );
      if (run.status !== 'completed') throw new Error(`run ended as ${run.status}: ${run.error?.message}`);
      requestedAt.delete(input);
      if (threadId !== undefined) threads!.giveBack(threadId);
    },
    close: () => lanefold.close(),
    statements,
    firstCallsMs,
  };
}

/** The input of a run that has called no model yet. */
function questionOf(prompt: LanguageModelV4Prompt): string | undefined {
  const last = prompt.at(-1)!;
  const part = last.role === 'user' ? last.content[0] : undefined;
  return part?.type === 'text' ? part.text : undefined;
}
