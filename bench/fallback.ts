import { APICallError, type LanguageModelV4, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createLanefold, defineAgent } from 'lanefold';
import { delay } from '../src/base/common/timer.ts';
import type { Servers } from './setup.ts';
import { quantile } from './support/median.ts';

const runs = 40;
const atOnce = 10;
const firstTokenMs = 250;
const attemptMs = 500;
const silentMs = 3_000;
const retryAfterS = 2;

/** How the first provider of a run behaves; a call is its nth of the run, from 0. `pauseMs`: after its first token. */
interface Fault {
  before?: (nth: number) => Promise<void> | void;
  pauseMs?: (nth: number) => number;
}

const refusal = (statusCode: number, responseHeaders?: Record<string, string>) =>
  new APICallError({
    message: `HTTP ${statusCode}`,
    url: 'http://x',
    requestBodyValues: {},
    statusCode,
    ...(responseHeaders ? { responseHeaders } : {}),
  });

const works: Fault = {};
const faults: Record<string, Fault> = {
  works,
  'is overloaded, twice a run': {
    before(nth) {
      if (nth < 2) throw refusal(529);
    },
  },
  [`answers 429, once a run, and asks for ${retryAfterS} s`]: {
    before(nth) {
      if (nth < 1) throw refusal(429, { 'retry-after': `${retryAfterS}` });
    },
  },
  [`is silent for ${silentMs} ms before its first token`]: {
    before: (nth) => (nth === 0 ? delay(silentMs) : undefined),
  },
  [`is silent for ${silentMs} ms after its first token`]: { pauseMs: (nth) => (nth === 0 ? silentMs : 0) },
  'refuses the key': {
    before() {
      throw refusal(401);
    },
  },
};

const rest: LanguageModelV4StreamPart[] = [
  { type: 'text-delta', id: '0', delta: ' it is.' },
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

/** Measures the time from enqueue to the first token of the answer and to its end, with a second model and without one. */
export async function fallback(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  const begun = new Map<string, number>();
  const calls = new Map<string, number>();
  let fault = works;

  const answering = (faultOf: () => Fault): LanguageModelV4 => ({
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('the benchmark only streams')),
    async doStream({ prompt }) {
      const question = JSON.stringify(prompt);
      const own = faultOf();
      const nth = calls.get(question) ?? 0;
      if (own !== works) calls.set(question, nth + 1);
      await own.before?.(nth);
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          async start(stream) {
            // an attempt that is given up is followed by another one, whose first token counts
            begun.set(question, performance.now());
            stream.enqueue({ type: 'text-start', id: '0' });
            stream.enqueue({ type: 'text-delta', id: '0', delta: 'Here' });
            await delay(own.pauseMs?.(nth) ?? 0);
            try {
              for (const part of rest) stream.enqueue(part);
              stream.close();
            } catch {
              // the attempt was given up
            }
          },
        }),
      };
    },
  });
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl: null,
    // each run meets the fault
    circuits: false,
    agents: [
      defineAgent({ name: 'alone', model: 'first' }),
      defineAgent({ name: 'insured', model: { try: ['first', 'second'], firstTokenMs, attemptMs } }),
    ],
    models: { first: answering(() => fault), second: answering(() => works) },
  });
  await lanefold.startWorker({ concurrency: atOnce });

  const measure = async (agent: 'alone' | 'insured') => {
    const found = { first: [] as number[], whole: [] as number[], failed: 0 };
    let next = 0;
    const one = async () => {
      while (next++ < runs) {
        const from = performance.now();
        const question = `${agent} at ${from}, ${next}`;
        const { status } = await lanefold.runs.wait(await lanefold.runs.enqueue({ agent, input: question }));
        if (status !== 'completed') found.failed++;
        else {
          found.first.push([...begun].find(([asked]) => asked.includes(question))![1] - from);
          found.whole.push(performance.now() - from);
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return found;
  };

  await measure('alone');
  console.log('\nms from enqueue          first token: p50   p95   whole answer: p50   p95   failed');
  for (const [says, own] of Object.entries(faults)) {
    fault = own;
    console.log(`the first provider ${says}`);
    for (const agent of ['alone', 'insured'] as const) {
      const { first, whole, failed } = await measure(agent);
      const figures = [first, whole].flatMap((times) => [quantile(times, 0.5), quantile(times, 0.95)]);
      const cells = figures.map((ms, n) => (Number.isNaN(ms) ? '–' : ms.toFixed(0)).padStart([20, 6, 20, 6][n]!));
      const name = agent === 'alone' ? '  one model' : '  with a second model';
      console.log(`${name.padEnd(22)}${cells.join('')}${String(failed).padStart(9)}`);
    }
  }
  await lanefold.close();
}
