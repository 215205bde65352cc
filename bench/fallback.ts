import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createLanefold, defineAgent } from 'lanefold';
import { delay } from '../src/base/common/timer.ts';
import { spreadOf } from '../src/ops/chaos/report.ts';
import type { Servers } from './setup.ts';

const runs = 40;
const atOnce = 10;
const firstTokenMs = 250;
const silentMs = 3_000;

/** How the first provider of a run behaves; a call is its nth of the run, from 0. */
type Fault = (nth: number) => Promise<void> | void;

const faults: Record<string, Fault> = {
  works: () => {},
  'is overloaded, twice a run': (nth) => {
    if (nth < 2) throw Object.assign(new Error('Overloaded'), { statusCode: 529, isRetryable: true });
  },
  [`is silent for ${silentMs} ms`]: (nth) => (nth === 0 ? delay(silentMs) : undefined),
};

/** Measures the time from enqueue to the first token, with a second model and without one. */
export async function fallback(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  const begun = new Map<string, number>();
  const calls = new Map<string, number>();
  let fault: Fault = faults['works']!;

  const answering = (before: (question: string) => Promise<void> | void): LanguageModelV4 => ({
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('the benchmark only streams')),
    async doStream({ prompt }) {
      const question = JSON.stringify(prompt);
      await before(question);
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: 'Here.' },
        { type: 'text-end', id: '0' },
        {
          type: 'finish',
          finishReason: { unified: 'stop', raw: 'stop' },
          usage: {
            inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
            outputTokens: { total: 1, text: 1, reasoning: undefined },
          },
        },
      ];
      if (!begun.has(question)) begun.set(question, performance.now());
      return {
        stream: new ReadableStream({ start: (own) => (parts.forEach((part) => own.enqueue(part)), own.close()) }),
      };
    },
  });
  const first = answering((question) => {
    const nth = calls.get(question) ?? 0;
    calls.set(question, nth + 1);
    return fault(nth);
  });
  const second = answering(() => {});
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl: null,
    agents: [
      defineAgent({ name: 'alone', model: 'first' }),
      defineAgent({ name: 'insured', model: { try: ['first', 'second'], firstTokenMs } }),
    ],
    models: { first, second },
  });
  await lanefold.startWorker({ concurrency: atOnce });

  const measure = async (agent: 'alone' | 'insured'): Promise<number[]> => {
    const times: number[] = [];
    let next = 0;
    const one = async () => {
      while (next++ < runs) {
        const from = performance.now();
        const question = `${agent} at ${from}, ${next}`;
        const run = await lanefold.runs.enqueue({ agent, input: question });
        await lanefold.runs.wait(run);
        const at = [...begun].find(([asked]) => asked.includes(question))?.[1];
        if (at !== undefined) times.push(at - from);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return times;
  };

  await measure('alone');
  let base = 1;
  for (const [says, own] of Object.entries(faults)) {
    fault = own;
    for (const agent of ['alone', 'insured'] as const) {
      const { p50, p95 } = spreadOf(await measure(agent));
      if (says === 'works' && agent === 'alone') base = p50;
      const ratio = (ms: number) => `${ms} ms (× ${(ms / base).toFixed(1)})`;
      console.log(`the first provider ${says}, ${agent}: first token after p50 ${ratio(p50)}, p95 ${ratio(p95)}`);
    }
  }
  await lanefold.close();
}
