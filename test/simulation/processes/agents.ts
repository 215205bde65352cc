import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { APICallError, type LanguageModelV4, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import { defineAgent } from '../../../src/agent/definition/agent.ts';
import { createAgentRegistry } from '../../../src/agent/definition/registry.ts';
import { neverRuns } from '../../../src/ops/chaos/provider.ts';
import type { Random } from '../../../src/ops/chaos/schedule.ts';
import { createCounting } from '../../../src/agent/models/counting.ts';
import { createModelRegistry } from '../../../src/agent/models/registry.ts';
import { createKeyRedactor } from '../../../src/base/redaction/sensitive-keys.ts';
import { defineTool } from '../../../src/agent/tools/define-tool.ts';
import { handOff } from '../../../src/agent/tools/handoff.ts';
import type { ToolCallContext } from '../../../src/agent/tools/tool.ts';
import { lockMs } from '../world/jobs.ts';
import { looking } from './looking.ts';
import type { Actor } from '../world/network.ts';
import { oddAnswerTo, toResult } from './odd.ts';
import { acting } from '../world/virtual-time.ts';

const input = { type: 'object' } as const;
export const common = [
  defineTool({ name: 'look', input, replay: looking, execute: (_, context) => use('look', looking, context) }),
  defineTool({ name: 'pay', input, replay: 'never', execute: (_, context) => use('pay', 'never', context) }),
  defineTool({ name: 'ask', input, needsApproval: true, execute: (_, context) => use('ask', 'safe', context) }),
];
/** Gives the run to another agent. */
const pass = (name: string, to: string) => defineTool({ name, input, execute: () => handOff(to) });

/** The process that calls. */
export const caller = () => acting() as Actor;

/** A tool takes its time, and returns something else whenever it is executed. */
export async function use(name: string, replay: string, context: ToolCallContext): Promise<string> {
  const { threadId, runId, round, callIndex, toolCallId, signal } = context;
  const { name: process, life, recorder, world } = caller();
  const random = world.chances.of(`tool ${runId} ${round}.${callIndex}`);
  if (toolCallId.startsWith(neverRuns)) world.report('now:odd-calls', `${toolCallId} of ${runId} runs`);
  const stored = world.store.inside?.threads.get(threadId)?.runs.find(({ id }) => id === runId)?.calls;
  const isStored = stored?.some((call) => call.round === round && call.call_index === callIndex);
  if (replay !== 'readOnly' && isStored === false)
    world.report('now:stored-first', `call ${round}.${callIndex} of ${runId} runs, and is not stored`);
  const recording = recorder.invoke('execute', threadId, { run_id: runId, round, index: callIndex, name, replay });
  await delay(random.int(10, 500), undefined, { signal });
  if (random.chance(0.03)) await delay(random.int(1_000, 9_000), undefined, { signal });
  recording.ok({});
  return `${name} by ${process}.${life} at ${world.clock.now}`;
}

/** Chooses one of the tools that are offered. */
export type Choose = (random: Random, offered: readonly string[]) => string;

/** What the model answers depends on what it is asked only, so that a repeated call has the same answer. */
export const modelThat = (choose: Choose): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'simulated',
  modelId: 'x',
  supportedUrls: {},
  async doGenerate({ prompt, tools, abortSignal: signal }) {
    const asked = createHash('sha256').update(JSON.stringify(prompt)).digest('hex').slice(0, 12);
    const random = caller().world.chances.of(`model ${asked}`);
    const options = signal ? { signal } : {};
    await delay(random.int(20, 600), undefined, options);
    if (asksFor(harmful, prompt)) await harm(random, signal);
    if (random.chance(0.04)) await delay(random.int(1_000, 9_000), undefined, options);
    if (random.chance(0.03)) throw failure(random.chance(0.7));
    const summarises = /Summarise the conversation/.test(JSON.stringify(prompt.at(-1)));
    const odd = summarises ? undefined : oddAnswerTo(asked, caller().world.chances);
    if (odd) return toResult(odd);
    const calls = random.chance(summarises ? 0.9 : 0.45)
      ? []
      : callsOf(
          asked,
          random,
          tools!.map(({ name }) => name),
          choose,
        );
    return {
      content: [{ type: 'text', text: `answer to ${asked}` }, ...calls],
      finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
      usage: {
        inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 5, text: 5, reasoning: 0 },
      },
      warnings: [],
    };
  },
  doStream: () => Promise.reject(new Error('The agent does not stream.')),
});

/** What a run is asked for whose model call kills its worker, or blocks it beyond its lease. */
export const harmful = 'harm';

const asksFor = (task: string, prompt: LanguageModelV4Prompt): boolean =>
  JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content ?? '').includes(`"${task} `);

async function harm(random: Random, signal: AbortSignal | undefined): Promise<void> {
  const { world } = caller();
  const worker = world.workers.get(caller());
  if (random.chance(0.7)) worker?.crash(random.int(100, 3_000));
  else worker?.block(random.int(2 * lockMs, 4 * lockMs));
  // a blocked worker continues, and has lost the run
  await delay(4 * lockMs, undefined, signal ? { signal } : {});
}

const failure = (isRetryable: boolean) =>
  new APICallError({ message: 'busy', url: 'simulated', requestBodyValues: {}, statusCode: 503, isRetryable });

const commonNames = common.map(({ name }) => name);

const callsOf = (asked: string, random: Random, offered: readonly string[], choose: Choose) =>
  Array.from({ length: random.int(1, 3) }, (_, index) => ({
    type: 'tool-call' as const,
    toolCallId: `${asked}-${index}`,
    input: '{}',
    toolName: choose(random, offered),
  }));

const choose: Choose = (random, offered) => {
  const passing = offered.find((name) => !commonNames.includes(name))!;
  const chance = random.next();
  return chance < 0.45 ? 'look' : chance < 0.7 ? 'pay' : chance < 0.9 ? 'ask' : passing;
};

export const settings = { streaming: false, maxIterations: 4, maxModelRetries: 2, approvalTimeoutMs: 20_000 };
/** A run whose context exceeds this compacts its lane. */
const contextPolicy = { maxInputTokens: 900, keepLastTurns: 1, summarization: 'request_new' } as const;
const agents = [
  defineAgent({
    name: 'agent',
    model: 'simulated:x',
    tools: [...common, pass('pass', 'other')],
    contextPolicy,
    ...settings,
  }),
  defineAgent({ name: 'other', model: 'simulated:x', tools: [...common, pass('return', 'agent')], ...settings }),
];

const models = createModelRegistry({ models: { 'simulated:x': modelThat(choose) } });

/** What all processes of all simulations share: nothing in it remembers anything. */
export const shared = { agents: await createAgentRegistry(agents), models, redactor: createKeyRedactor() };

/** What one process learns of models. */
export const newCounting = (of = models) =>
  createCounting({ priceOf: () => 0, contextWindows: { simulated: 100_000 } }, of.target);
