import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { LanguageModelV4Prompt, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import type { ModelTurn } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { classify } from './errors/classify.ts';
import { ModelError, type ModelErrorType } from './errors/model-error.ts';
import { toCallOptions, type ModelSettings } from './settings/settings.ts';
import { TurnCollector } from './answer/turn.ts';

export interface ModelCall {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  toolChoice?: LanguageModelV4ToolChoice;
  settings?: ModelSettings;
  /** Default true; false calls `doGenerate`, which has no deltas. */
  stream?: boolean;
  signal: AbortSignal;
  /** Longest silence between two stream parts, and before the first; the whole call without streaming. Milliseconds. */
  idleTimeoutMs?: number;
  /** Told once, when the model is asked to stream: `soFar` looks at what has come whenever it is called. */
  onStart?: (soFar: () => { text: string; thinking: string }) => void;
}

/**
 * One call of a model: one turn, no tools run, no retries.
 *
 * Rejects with the signal's reason as soon as it aborts, also when the provider ignores it; with a ModelError
 * (`timeout`) after `idleTimeoutMs` of silence; with a ModelError for every failure of the provider.
 *
 * A ModelTurn has text, reasoning and tool calls. Sources, generated files, warnings, and tools the provider ran itself
 * are left out.
 */
export async function generate(model: LanguageModelV4, call: ModelCall): Promise<ModelTurn> {
  const { signal, idleTimeoutMs } = call;
  signal.throwIfAborted();
  // The provider gets a signal of its own, so that silence can end its request too.
  const provider = new AbortController();
  let stop!: (reason: unknown) => void;
  const stopped = new Promise<never>((_, reject) => (stop = reject));
  const end = (reason: unknown) => {
    stop(reason);
    provider.abort(reason);
  };
  const onAbort = () => end(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = idleTimeoutMs ? setTimeout(() => end(silence(idleTimeoutMs)), idleTimeoutMs) : undefined;
  try {
    // One race for the whole call; within it the loop only looks at the provider's signal.
    const work = call.stream === false ? generateWhole : generateStream;
    return await Promise.race([work(model, call, provider.signal, timer), stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

const silence = (ms: number) =>
  new ModelError(`The model sent nothing for ${ms} ms.`, { errorType: 'timeout', retryable: true });

function toOptions(call: ModelCall, abortSignal: AbortSignal): LanguageModelV4CallOptions {
  const options: LanguageModelV4CallOptions = { ...toCallOptions(call.settings), prompt: call.prompt, abortSignal };
  // Some servers refuse an empty list of tools.
  if (call.tools.length > 0) {
    options.tools = call.tools;
    if (call.toolChoice) options.toolChoice = call.toolChoice;
  }
  return options;
}

async function generateStream(
  model: LanguageModelV4,
  call: ModelCall,
  signal: AbortSignal,
  timer: NodeJS.Timeout | undefined,
): Promise<ModelTurn> {
  const collector = new TurnCollector();
  call.onStart?.(() => collector.soFar());
  const started = await failing('llm_request', () => model.doStream(toOptions(call, signal)));
  const reader = started.stream.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  // Cancelling also wakes a read that a provider deaf to the signal would leave pending.
  signal.addEventListener('abort', cancel, { once: true });
  // A catch around the loop, not around each read: a wrapper per part would double the cost of a step.
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) break;
      timer?.refresh();
      if (value.type === 'error') throw value.error;
      collector.add(value);
    }
  } catch (error) {
    cancel();
    throw error instanceof LanefoldError ? error : classify(error, 'llm_stream');
  }
  if (signal.aborted) {
    cancel();
    throw signal.reason;
  }
  if (!collector.finish) throw cutStream();
  return collector.turn();
}

// Without its finish part half an answer would pass for a whole one.
const cutStream = () =>
  new ModelError('The answer of the model ended before it was complete.', { errorType: 'llm_stream', retryable: true });

async function generateWhole(model: LanguageModelV4, call: ModelCall, signal: AbortSignal): Promise<ModelTurn> {
  const result = await failing('llm_request', () => model.doGenerate(toOptions(call, signal)));
  return failing('llm_response', async () => {
    const collector = new TurnCollector();
    for (const part of result.content) collector.addContent(part);
    collector.responseId = result.response?.id;
    collector.finish = result;
    return collector.turn();
  });
}

async function failing<T>(phase: ModelErrorType, work: () => PromiseLike<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LanefoldError ? error : classify(error, phase);
  }
}
