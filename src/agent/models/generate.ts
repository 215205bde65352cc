import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { LanguageModelV4Prompt, LanguageModelV4ToolChoice } from '@ai-sdk/provider';
import type { ModelTurn } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { classify } from './classify-error.ts';
import { ModelError, type ModelErrorType } from './model-error.ts';
import { withRawInputs } from './parts.ts';
import { hideSettings, toCallOptions, type ModelSettings } from './settings.ts';
import { TurnCollector } from './answer.ts';
import { after, type Timer, onAbort } from '../../base/common/timer.ts';

export interface GenerateCall {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  toolChoice?: LanguageModelV4ToolChoice;
  settings?: ModelSettings;
  /** Default true; false calls `doGenerate`, which sends no deltas. */
  stream?: boolean;
  signal: AbortSignal;
  /**
   * Maximum silence before the first and between later stream parts; without streaming, the limit of the whole call.
   */
  idleTimeoutMs?: number;
  /** Time limit until a streamed answer begins: with text, a thought or a tool call. */
  firstTokenMs?: number | undefined;
  /** Time limit of the whole call. */
  attemptMs?: number | undefined;
  /** Called once before streaming starts; `soFar` returns what has arrived whenever it is called. */
  onStart?: (soFar: () => { text: string; thinking: string }) => void;
  /** Called once when the first part of a streamed answer arrives; must not throw. */
  onFirstPart?: () => void;
}

/**
 * Makes one model call and returns its turn. Runs no tools and does not retry.
 *
 * Rejects with the signal's reason as soon as the signal aborts, even if the provider ignores it; with a `timeout`
 * ModelError after `idleTimeoutMs` of silence, or at one of the other limits; and with a ModelError for every failure of the provider.
 *
 * A ModelTurn has text, reasoning and tool calls. Sources, generated files, warnings and tool calls that the provider
 * executed are dropped.
 */
export async function generate(model: LanguageModelV4, call: GenerateCall): Promise<ModelTurn> {
  const { signal, idleTimeoutMs, attemptMs } = call;
  const firstTokenMs = call.stream === false ? undefined : call.firstTokenMs;
  signal.throwIfAborted();
  // The provider gets its own signal, so that silence can abort its request too.
  const provider = new AbortController();
  let stop!: (reason: unknown) => void;
  const stopped = new Promise<never>((_, reject) => (stop = reject));
  const end = (reason: unknown) => {
    stop(reason);
    provider.abort(reason);
  };
  const unlisten = onAbort(signal, () => end(signal.reason));
  const timer = idleTimeoutMs ? after(idleTimeoutMs, () => end(silence(idleTimeoutMs))) : undefined;
  const first = firstTokenMs
    ? after(firstTokenMs, () => end(late('has not begun its answer', firstTokenMs)))
    : undefined;
  const whole = attemptMs ? after(attemptMs, () => end(late('has not ended its answer', attemptMs))) : undefined;
  try {
    // One race for the whole call; inside it, the loop only checks the provider's signal.
    const work = call.stream === false ? generateWhole : generateStream;
    return await Promise.race([work(model, call, provider.signal, { timer, first }), stopped]);
  } catch (error) {
    throw hideSettings(error, call.settings);
  } finally {
    for (const each of [timer, first, whole]) each?.cancel();
    unlisten();
  }
}

const silence = (ms: number) =>
  new ModelError(`The model sent nothing for ${ms} ms.`, { errorType: 'timeout', retryable: true });

const late = (what: string, ms: number) =>
  new ModelError(`The model ${what} after ${ms} ms.`, { errorType: 'timeout', retryable: true, early: true });

function toOptions(
  { provider }: LanguageModelV4,
  call: GenerateCall,
  abortSignal: AbortSignal,
): LanguageModelV4CallOptions {
  // these models take the arguments of earlier calls as text
  const prompt = provider.startsWith('openai') ? withRawInputs(call.prompt) : call.prompt;
  const options: LanguageModelV4CallOptions = { ...toCallOptions(call.settings), prompt, abortSignal };
  // Some servers reject an empty list of tools.
  if (call.tools.length > 0) {
    options.tools = call.tools;
    if (call.toolChoice) options.toolChoice = call.toolChoice;
  }
  return options;
}

async function generateStream(
  model: LanguageModelV4,
  call: GenerateCall,
  signal: AbortSignal,
  { timer, first }: { timer: Timer | undefined; first: Timer | undefined },
): Promise<ModelTurn> {
  const collector = new TurnCollector();
  let { onFirstPart } = call;
  call.onStart?.(() => collector.soFar());
  const started = await failing('llm_request', () => model.doStream(toOptions(model, call, signal)));
  const reader = started.stream.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  // Cancelling also ends a pending read when the provider ignores the signal.
  onAbort(signal, cancel);
  // One catch around the loop: a wrapper around each read would double the cost of a model call.
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) break;
      timer?.restart();
      if (begins.has(value.type)) first?.cancel();
      if (value.type === 'error') throw value.error;
      if (onFirstPart && value.type !== 'stream-start' && value.type !== 'response-metadata') {
        onFirstPart();
        onFirstPart = undefined;
      }
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

/** The parts with which an answer begins. */
const begins = new Set<string>(['text-delta', 'reasoning-delta', 'tool-input-start', 'tool-call', 'file', 'source']);

// Without this check, a stream that ends early would pass for a complete answer.
const cutStream = () =>
  new ModelError('The model stream ended before the answer was complete.', {
    errorType: 'llm_stream',
    retryable: true,
  });

async function generateWhole(model: LanguageModelV4, call: GenerateCall, signal: AbortSignal): Promise<ModelTurn> {
  const result = await failing('llm_request', () => model.doGenerate(toOptions(model, call, signal)));
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
