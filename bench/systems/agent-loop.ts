import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createLanefold, defineAgent, defineTool, migrate, type Lanefold, type RunRef } from 'lanefold';
import { delay } from '../../src/base/common/timer.ts';
import workloads from '../peers/workloads.json' with { type: 'json' };
import { instantModel, text400 } from '../workload.ts';
import type { System, SystemOptions } from './system.ts';

const { rounds, tools, modelMs, toolMs, bytes } = workloads['agent-loop'];
const tokens = 10;
const text = text400.repeat(3).slice(0, bytes);

interface Options extends SystemOptions {
  /** The client follows the stream of each run instead of its end. */
  reader?: boolean;
  replay: 'safe' | 'readOnly';
}

/** A client and a worker in one process. */
export async function open(options: Options): Promise<System> {
  const { databaseUrl, redisUrl, concurrency, reader, replay } = options;
  await migrate(databaseUrl);
  const lanefold = await createLanefold({
    databaseUrl,
    redisUrl,
    queuePrefix: new URL(databaseUrl).pathname.slice(1),
    agents: [agentWith(replay)],
    models: { loop: model },
  });
  await lanefold.startWorker({ concurrency });
  return {
    async run() {
      const run = await lanefold.runs.enqueue({ agent: name, input: text });
      if (reader) await readAll(lanefold, run);
      const { status, error } = await lanefold.runs.wait(run);
      if (status !== 'completed') throw new Error(`run ended as ${status}: ${error?.message}`);
    },
    close: () => lanefold.close(),
  };
}

async function readAll(lanefold: Lanefold, run: RunRef): Promise<void> {
  let read = 0;
  for await (const item of lanefold.runs.stream(run)) if (item.type === 'llm_delta') read++;
  if (read === 0) throw new Error('the stream had no text');
}

const name = 'loop';

function agentWith(replay: Options['replay']) {
  const look = defineTool({
    name: 'look',
    description: 'Looks something up.',
    input: { type: 'object', properties: { q: { type: 'number' } } },
    replay,
    execute: async () => {
      await delay(toolMs);
      return text;
    },
  });
  return defineAgent({ name, model: 'loop', tools: [look], maxIterations: 2 * rounds });
}

/** Streams the tokens of each answer in the time that a call takes, as providers do. */
const model: LanguageModelV4 = {
  ...instantModel(rounds),
  async doStream({ prompt }) {
    const done = prompt.filter(({ role }) => role === 'tool').length;
    const isLast = done >= rounds;
    const calledAt = performance.now();
    const size = isLast ? bytes / tokens : 6;
    return {
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        async start(controller) {
          controller.enqueue({ type: 'text-start', id: '0' });
          for (let n = 1; n <= tokens; n++) {
            await delay(calledAt + (n * modelMs) / tokens - performance.now());
            controller.enqueue({ type: 'text-delta', id: '0', delta: text.slice((n - 1) * size, n * size) });
          }
          controller.enqueue({ type: 'text-end', id: '0' });
          for (let n = 0; !isLast && n < tools; n++)
            controller.enqueue({
              type: 'tool-call',
              toolCallId: `call_${done}_${n}`,
              toolName: 'look',
              input: `{"q":${n}}`,
            });
          const reason = isLast ? 'stop' : 'tool-calls';
          controller.enqueue({ type: 'finish', finishReason: { unified: reason, raw: reason }, usage });
          controller.close();
        },
      }),
    };
  },
};

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: tokens, text: tokens, reasoning: 0 },
};
