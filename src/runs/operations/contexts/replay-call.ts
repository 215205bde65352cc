import type { JsonObject, Message, ModelTurn } from '../../../agent/context/message.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry, ReadyAgent } from '../../../agent/definition/registry.ts';
import { classify } from '../../../agent/models/classify-error.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { estimateUsage } from '../../../agent/models/counting.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import { generate } from '../../../agent/models/generate.ts';
import { toPrompt } from '../../../agent/models/prompt.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { assertRunOverrides } from '../runs/allow-overrides.ts';
import { readSentCall } from './calls.ts';
import { replayedMessages } from './replayed-messages.ts';
import type { CallReplay, ReplayCallOptions } from './types.ts';

/** Per process. Each replay holds a whole context in memory; further ones are rejected, because there is no queue. */
const maxAtOnce = 8;
let active = 0;

interface ReplayDeps {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
}

/**
 * Repeats a recorded model call with the messages that were sent, and the agent's tools and settings as this process
 * knows them. Executes no tools, retries nothing, and writes nothing.
 */
export async function replayCall(
  deps: ReplayDeps,
  threadId: string,
  llmCallId: string,
  options: ReplayCallOptions & { from?: OverrideCaller; signal?: AbortSignal } = {},
): Promise<CallReplay> {
  const { agents, models } = deps;
  const { systemPrompt, contextPolicy, from = 'library', signal = new AbortController().signal } = options;
  const { call, agent, messages, verified } = await readSentCall(deps, threadId, llmCallId);
  if (!agent) {
    throw new LanefoldError(
      'unknown_agent',
      `This process lacks agent ${call.agent} or a tool that it offered in that call.`,
      { hint: 'Replay the call in a process that has the agent and tools of the run.' },
    );
  }
  if (messages.length === 0) {
    throw new LanefoldError('call_not_found', `The log does not contain the messages of call ${llmCallId}.`, {
      hint: 'To log the questions of a strategy, set recordThoughts: true.',
    });
  }
  const asked = options.model === call.model ? undefined : options.model;
  const given = { agent: agent.name, systemPrompt, ...omitUndefined({ model: asked, contextPolicy }) };
  assertRunOverrides(agents.under(agent.name, agent.version.id), models, given, from);
  const model = asked ?? call.model;
  models.check(model);
  const sent = await replayedMessages(deps, { threadId, call, agent, messages, model }, options);
  if (active >= maxAtOnce) {
    throw new LanefoldError('server_busy', `This process is already replaying ${maxAtOnce} model calls.`, {
      hint: 'Try again when one of them has ended.',
    });
  }
  active += 1;
  try {
    const answer = await ask(deps, agent, model, sent, signal);
    return { threadId, llmCallId, model, verified, messages: sent.length, ...answer };
  } finally {
    active -= 1;
  }
}

type Answered = Pick<CallReplay, 'answer' | 'error' | 'usage' | 'finishReason' | 'durationMs'>;

/** Asks the model once. */
async function ask(
  { models, counting }: ReplayDeps,
  agent: ReadyAgent,
  model: string,
  sent: Message[],
  signal: AbortSignal,
): Promise<Answered> {
  const startedAt = performance.now();
  const tookMs = () => Math.round(performance.now() - startedAt);
  try {
    const turn = await generate(await models.resolve(model), {
      prompt: toPrompt(sent, await models.dialect(model)),
      tools: agent.descriptors,
      settings: agent.settings,
      stream: agent.streaming,
      signal,
      idleTimeoutMs: agent.idleTimeoutMs,
    });
    const { finishReason } = turn;
    const usage = estimateUsage(counting, { model, messages: sent, tools: agent.descriptors }, turn);
    return { answer: answerOf(turn), error: null, usage, finishReason, durationMs: tookMs() };
  } catch (error) {
    signal.throwIfAborted();
    const { errorType: type, message } = classify(error, 'llm_request');
    return { answer: null, error: { type, message }, usage: null, finishReason: null, durationMs: tookMs() };
  }
}

const answerOf = ({ text, thinking, toolCalls }: ModelTurn): JsonObject => ({
  content: text,
  ...(toolCalls.length > 0 ? { tool_calls: toolCalls as unknown as JsonObject[] } : {}),
  ...(thinking ? { thinking } : {}),
});
