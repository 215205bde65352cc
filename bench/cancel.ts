import { createLanefold, defineAgent } from 'lanefold';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { spreadOf } from '../src/ops/chaos/report.ts';
import type { Servers } from './setup.ts';

const rounds = 30;

/**
 * Measures the time from a cancel in one client until another client's worker aborts its model call, and until the run
 * ends.
 */
export async function cancel(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  for (const redisUrl of [null, servers.redisUrl]) {
    if (redisUrl === undefined) continue;
    let onCall!: () => void;
    let onAbort!: (at: number) => void;
    // starts to stream and never ends by itself
    const endless: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'bench',
      modelId: 'endless',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('the benchmark only streams')),
      doStream: ({ abortSignal }) => {
        abortSignal!.addEventListener('abort', () => onAbort(performance.now()), { once: true });
        const stream = new ReadableStream<LanguageModelV4StreamPart>({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: '0' });
            controller.enqueue({ type: 'text-delta', id: '0', delta: 'Once upon a time' });
            onCall();
          },
        });
        return Promise.resolve({ stream });
      },
    };
    const options = { databaseUrl, redisUrl, queuePrefix: `cancel-${redisUrl ? 'redis' : 'postgres'}` };
    const agents = [defineAgent({ name: 'endless', model: 'endless' })];
    const [client, worker] = await Promise.all(
      [0, 1].map(() => createLanefold({ ...options, agents, models: { endless } })),
    );
    await worker!.startWorker();
    const [abort, end]: number[][] = [[], []];
    for (let i = 0; i < rounds; i++) {
      const called = new Promise<void>((resolve) => (onCall = resolve));
      const aborted = new Promise<number>((resolve) => (onAbort = resolve));
      const run = await client!.runs.enqueue({ agent: 'endless', input: 'Tell me a story.' });
      await called;
      const from = performance.now();
      await client!.runs.cancel(run);
      abort!.push((await aborted) - from);
      await client!.runs.wait(run);
      end!.push(performance.now() - from);
    }
    const spread = (times: number[]) => `median ${spreadOf(times).p50} ms, max ${spreadOf(times).max} ms`;
    console.log(
      `\n${rounds} cancellations of a streaming model call, queue in ${redisUrl ? 'Redis' : 'PostgreSQL'}: time to abort ${spread(abort!)}; time to end of run ${spread(end!)} (goal 1,000)`,
    );
    await client!.close();
    await worker!.close();
  }
}
