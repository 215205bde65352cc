import { createLanefold, defineAgent } from 'lanefold';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { spreadOf } from '../src/chaos/spread.ts';
import type { Servers } from './setup.ts';

const rounds = 30;

/** From a cancel in one process's client until the model call of another one's worker is aborted, and until the run has ended. */
export async function cancel(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  for (const redisUrl of [null, servers.redisUrl]) {
    if (redisUrl === undefined) continue;
    let calling!: () => void;
    let aborted!: (at: number) => void;
    // begins to answer, and goes on until it is told to stop
    const endless: LanguageModelV4 = {
      specificationVersion: 'v4',
      provider: 'bench',
      modelId: 'endless',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('the bench streams')),
      doStream: ({ abortSignal }) => {
        abortSignal!.addEventListener('abort', () => aborted(performance.now()), { once: true });
        const stream = new ReadableStream<LanguageModelV4StreamPart>({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: '0' });
            controller.enqueue({ type: 'text-delta', id: '0', delta: 'Once upon a time' });
            calling();
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
      const asked = new Promise<void>((resolve) => (calling = resolve));
      const stopped = new Promise<number>((resolve) => (aborted = resolve));
      const run = await client!.runs.enqueue({ agent: 'endless', input: 'Tell me a story.' });
      await asked;
      const from = performance.now();
      await client!.runs.cancel(run);
      abort!.push((await stopped) - from);
      await client!.runs.wait(run);
      end!.push(performance.now() - from);
    }
    const said = (times: number[]) => `${spreadOf(times).p50} ms (p50), ${spreadOf(times).max} ms at most`;
    console.log(
      `\n${rounds} cancels of a streaming call, queue in ${redisUrl ? 'Redis' : 'PostgreSQL'}: aborted after ${said(abort!)}; ended after ${said(end!)} (goal 1,000)`,
    );
    await client!.close();
    await worker!.close();
  }
}
