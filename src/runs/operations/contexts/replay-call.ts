import type { ModelName } from '../../../agent/models/providers.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { AgentRegistry, ReadyAgent } from '../../../agent/definition/registry.ts';
import {
  type JsonObject,
  type Message,
  type ModelTurn,
  type Usage,
  withInstructions,
} from '../../../agent/context/message.ts';
import { canonicalMessage } from '../../../agent/context/canonical.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { classify } from '../../../agent/models/classify-error.ts';
import { estimateUsage } from '../../../agent/models/estimate.ts';
import { generate } from '../../../agent/models/generate.ts';
import { toPrompt } from '../../../agent/models/prompt.ts';
import type { ModelRegistry } from '../../../agent/models/registry.ts';
import type { PolicyOption } from '../../../agent/policy/policy.ts';
import { readPolicy } from '../../../agent/policy/read-policy.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readContext } from '../../../database/store/context/read-context.ts';
import type { CallRecord } from '../../../database/store/context/read-call.ts';
import { assertRunOverrides } from '../runs/allow-overrides.ts';
import { readSentCall } from './calls.ts';
import { projectContext } from './project.ts';

/** Changes to a recorded model call; whatever is absent stays as it was sent. */
export interface ReplayCallOptions {
  model?: ModelName;
  /** Replaces the whole system message, including the instructions of an output contract; null: none. */
  systemPrompt?: string | null;
  /** Replaces the run's policy: cuts the whole context of the lane as it was before the call. */
  contextPolicy?: PolicyOption;
  /** Aborts the model call. */
  signal?: AbortSignal;
}

/** A model's answer to a replayed call. It is not stored. */
export interface CallReplay {
  threadId: string;
  llmCallId: string;
  model: string;
  /** Whether the recorded messages, before any change, are proven to be those of the call: see `ModelCall.verified`. */
  verified: boolean;
  /** Number of messages sent, including the system prompt. */
  messages: number;
  /** The answer, in the shape of `ModelCall.answer`; its tool calls were not executed. Null if the call failed. */
  answer: JsonObject | null;
  /** Why the model did not answer. */
  error: { type: string; message: string } | null;
  usage: Usage | null;
  finishReason: string | null;
  durationMs: number;
}

/** Per process. Each replay holds a whole context in memory; further ones are rejected, because there is no queue. */
const maxAtOnce = 8;
let active = 0;

export interface ReplayDeps {
  db: Database;
  agents: AgentRegistry;
  models: ModelRegistry;
  counting: Counting;
}

/**
 * Repeats recorded model calls with the messages that were sent, and the agent's tools and settings as this process
 * knows them. Executes no tools, retries nothing, and writes nothing.
 */
export function callReplayer({ db, agents, models, counting }: ReplayDeps) {
  return async (
    threadId: string,
    llmCallId: string,
    options: ReplayCallOptions,
    from: OverrideCaller,
  ): Promise<CallReplay> => {
    const { call, agent, messages, verified } = await readSentCall({ db, agents }, threadId, llmCallId);
    if (!agent) {
      throw new LanefoldError(
        'unknown_agent',
        `This process lacks agent ${call.agent} or a tool that it offered in that call.`,
        {
          hint: 'Replay the call in a process that has the agent and tools of the run.',
        },
      );
    }
    if (messages.length === 0) {
      throw new LanefoldError('call_not_found', `The log does not contain the messages of call ${llmCallId}.`, {
        hint: 'To log the questions of a strategy, set recordThoughts: true.',
      });
    }
    const { systemPrompt, contextPolicy: policy } = options;
    const asked = options.model === call.model ? undefined : options.model;
    const given = { agent: agent.name, systemPrompt, ...omitUndefined({ model: asked, contextPolicy: policy }) };
    assertRunOverrides(agents.under(agent.name, agent.version.id), models, given, from);
    const model = asked ?? call.model;
    models.check(model);
    const cut =
      policy === undefined ? messages : await cutBy({ db, counting }, threadId, call, agent, { policy, model });
    const sent = withSystemPrompt(cut, systemPrompt);
    if (active >= maxAtOnce) {
      throw new LanefoldError('server_busy', `This process is already replaying ${maxAtOnce} model calls.`, {
        hint: 'Try again when one of them has ended.',
      });
    }
    active += 1;
    const startedAt = performance.now();
    const about = { threadId, llmCallId, model, verified, messages: sent.length };
    const tookMs = () => Math.round(performance.now() - startedAt);
    const { signal = new AbortController().signal } = options;
    try {
      const turn = await generate(await models.resolve(model), {
        prompt: toPrompt(sent, await models.dialect(model)),
        ...{ tools: agent.descriptors, settings: agent.settings, stream: agent.streaming, signal },
        ...{ idleTimeoutMs: agent.idleTimeoutMs },
      });
      const { finishReason } = turn;
      const usage = estimateUsage(counting, { model, messages: sent, tools: agent.descriptors }, turn);
      return { ...about, answer: answerOf(turn), error: null, usage, finishReason, durationMs: tookMs() };
    } catch (error) {
      signal.throwIfAborted();
      const { errorType: type, message } = classify(error, 'llm_request');
      return {
        ...about,
        answer: null,
        error: { type, message },
        usage: null,
        finishReason: null,
        durationMs: tookMs(),
      };
    } finally {
      active -= 1;
    }
  };
}

/** The context of the lane before the call, cut by another policy. */
async function cutBy(
  { db, counting }: Pick<ReplayDeps, 'db' | 'counting'>,
  threadId: string,
  { context_ref: contextRef, seq, refs }: CallRecord,
  { output, descriptors: tools, settings }: ReadyAgent,
  { policy, model }: { policy: PolicyOption; model: string },
): Promise<Message[]> {
  if ('history' in refs) {
    throw new LanefoldError(
      'invalid_input',
      'A question of a strategy has no context policy: the strategy chose its messages.',
      {
        hint: 'Replay it without contextPolicy. Nothing was sent.',
      },
    );
  }
  const rows = await readContext(db, threadId, contextRef, seq - 1);
  const projection = await projectContext(
    counting,
    rows,
    {
      ...{ policy: readPolicy(policy), model, tools, at: new Date(db.settings.clock.now()) },
      ...{ instructions: output?.instructions, maxOutputTokens: settings.max_output_tokens },
    },
    { full: true },
  );
  const messages = projection.messages.map(canonicalMessage);
  const [first, ...rest] = messages;
  return first && output ? [...withInstructions(first, output.instructions), ...rest] : messages;
}

function withSystemPrompt(messages: Message[], systemPrompt: string | null | undefined): Message[] {
  if (systemPrompt === undefined) return messages;
  const rest = messages.filter(({ role }, index) => index > 0 || role !== 'system');
  return systemPrompt === null ? rest : [{ role: 'system', content: systemPrompt }, ...rest];
}

const answerOf = ({ text, thinking, toolCalls }: ModelTurn): JsonObject => ({
  content: text,
  ...(toolCalls.length > 0 ? { tool_calls: toolCalls as unknown as JsonObject[] } : {}),
  ...(thinking ? { thinking } : {}),
});
