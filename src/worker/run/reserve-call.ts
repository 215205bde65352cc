import type { JsonObject, Usage, ModelTurn } from '../../agent/context/message.ts';
import { isLanefoldError, type LanefoldError } from '../../base/errors.ts';
import { ModelError } from '../../agent/models/model-error.ts';
import { estimateInput, estimateUsage } from '../../agent/models/counting.ts';
import { isTransient } from '../../database/postgres/errors.ts';
import { usualOutputTokens, type CallTokens } from '../../runs/limiter/limited-run.ts';
import { LimitReached, type Reservation } from '../../runs/limiter/run-limits.ts';
import { limitAt } from '../../runs/limiter/refusals.ts';
import { CallDeferred } from '../part.ts';
import type { RunDependencies } from './dependencies.ts';
import type { HeldRun } from './held-run.ts';
import type { PreparedCall } from './prepare-call.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { toUsage } from '../../agent/models/answer.ts';
import { classify } from '../../agent/models/classify-error.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { Attempt, StrategyEvent } from '../../agent/strategies/machine.ts';
import type { Answered } from '../../agent/strategies/turn/events.ts';
import { cleanText } from '../../base/checks/values.ts';
import type { AnswerSoFar } from '../../runs/streams/publish-deltas.ts';

/**
 * Reserves what a model call may use of the run's budget and of the limits that apply to it.
 *
 * @throws LimitReached if the run has to wait
 * @throws ModelError `budget_exhausted`, `limit_too_small`, `price_unknown`: the run has to end
 */
export async function reserveCall(
  { counting }: Pick<RunDependencies, 'counting'>,
  run: Pick<HeldRun, 'limits' | 'budget' | 'reached' | 'exhausted'>,
  { model, messages, tools, settings }: Pick<PreparedCall, 'model' | 'messages' | 'tools' | 'settings'>,
): Promise<Reservation | undefined> {
  const limited = run.limits?.applies(model);
  if (!limited && !run.budget) return undefined;
  const tokens = {
    inputTokens: estimateInput(counting, model, messages, tools),
    outputTokens: settings.max_output_tokens ?? usualOutputTokens,
  };
  try {
    return await reserve(run, model, tokens);
  } catch (error) {
    const errorType = ends.find((code) => isLanefoldError(error, code));
    if (!errorType) throw error;
    const { message, hint, details } = error as LanefoldError;
    if (errorType === 'budget_exhausted') run.exhausted = details as JsonObject;
    throw new ModelError(`${message} ${hint}`, { errorType, retryable: false });
  }
}

async function reserve(
  { limits, budget, reached }: Pick<HeldRun, 'limits' | 'budget' | 'reached'>,
  model: string,
  tokens: CallTokens,
): Promise<Reservation> {
  const own = await budget?.take(model, tokens);
  try {
    const shared = await limits?.take(model, tokens);
    reached.push(...(shared?.passed ?? []).map(limitAt));
    return {
      end(used, how) {
        own?.end(used, how);
        shared?.end(used, how);
      },
    };
  } catch (error) {
    own?.end();
    throw error;
  }
}

const ends = ['budget_exhausted', 'limit_too_small', 'price_unknown'] as const;

/** The call was not made, or not counted: an error of the run and not of the model. */
export const isOfLimits = (error: unknown): boolean =>
  error instanceof LimitReached ||
  error instanceof CallDeferred ||
  isTransient(error) ||
  isLanefoldError(error, 'database_error');

/** The call has ended with this usage. Returns undefined, so that a call is settled once. */
export function settleCall(reserved: Reservation | undefined, usage: Usage): undefined {
  reserved?.end({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: usage.cache_read_tokens ?? 0,
    writtenTokens: usage.cache_write_tokens ?? 0,
  });
  return undefined;
}

/** The call has ended without an answer. A provider that has not refused it may have counted it. */
export function abandonCall(reserved: Reservation | undefined, error: unknown): void {
  const refused = error instanceof ModelError && error.statusCode !== undefined;
  reserved?.end(undefined, refused ? 'refused' : 'lost');
}

const shorten =
  'Shorten the newest message, the system prompt or the tools, lower maxOutputTokens, compact the lane, or give the ' +
  'window of the model with contextWindows.';

type ModelFailed = Extract<StrategyEvent, { type: 'model_failed' }>;

/** A failed model call, as an event for the machine. */
export function modelFailed(error: unknown): ModelFailed {
  const failure = classify(error, 'llm_request');
  return {
    type: 'model_failed',
    error: {
      type: failure.errorType,
      message: failure.errorType === 'context_too_long' ? `${failure.message} ${shorten}` : failure.message,
    },
    // silence has already cost the whole idle time; whether to try again is for the caller to decide
    retryable: failure.retryable && (failure.errorType !== 'timeout' || failure.early === true),
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
  };
}

/** Whether another model can be asked after this failure. */
export const mayPass = ({ passesOn }: Attempt, { reason }: Pick<ModelFailed, 'reason'>): boolean =>
  reason !== undefined && passesOn?.includes(reason) === true;

/**
 * A failed call, as an event for the machine: also one that a limit refuses, or whose model is not called for now, if another model can
 * be asked instead.
 *
 * @throws `error` if the run has to wait
 */
export function failureOf(error: unknown, attempt: Attempt): ModelFailed {
  const passed = passedOn(error, attempt);
  if (!passed && isOfLimits(error)) throw error;
  return passed ?? modelFailed(error);
}

function passedOn(error: unknown, attempt: Attempt): ModelFailed | undefined {
  if (!(error instanceof LimitReached || error instanceof CallDeferred)) return undefined;
  const [type, reason] =
    error instanceof LimitReached ? (['limit', 'limit'] as const) : (['circuit_open', 'overloaded'] as const);
  if (!mayPass(attempt, { reason })) return undefined;
  const { message, delayMs } = error;
  return {
    type: 'model_failed',
    error: { type, message },
    retryable: true,
    reason,
    ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
  };
}

/** Of what a failed attempt has written, the trace keeps this many characters. */
const mostWritten = 20_000;

/**
 * What the trace and the usage of a run keep of a failed attempt. A provider counts the tokens of an answer that it has begun; unless
 * it has told them, they are estimates.
 */
export function attemptOf(
  { counting }: Pick<RunDependencies, 'counting'>,
  { model: own }: Pick<Claim, 'model'>,
  { call, soFar, usage: reported }: { call?: PreparedCall; soFar?: () => AnswerSoFar; usage?: Usage },
): Pick<ModelFailed, 'written' | 'usage' | 'model'> {
  const { text = '', thinking = '' } = soFar?.() ?? {};
  const written = { text: cleanText(text.slice(0, mostWritten)), thinking: cleanText(thinking.slice(0, mostWritten)) };
  const began = text !== '' || thinking !== '';
  const turn: ModelTurn = { text, thinking, toolCalls: [], finishReason: null, usage: toUsage(undefined) };
  const usage = reported ?? (call && began ? estimateUsage(counting, call, turn) : undefined);
  return {
    ...(began ? { written } : {}),
    ...(usage ? { usage } : {}),
    ...(call && call.model !== own ? { model: call.model } : {}),
  };
}

/**
 * What a model had written when its call was cancelled, as its answer: people have read it, and the next question may be
 * about it. Undefined if that is nothing. Its tokens are estimates, because the provider has not counted them yet.
 */
export function cutShort(
  { counting }: Pick<RunDependencies, 'counting'>,
  agent: ReadyAgent,
  callId: string,
  call: PreparedCall,
  written: AnswerSoFar,
): Answered | undefined {
  const [text, thinking] = [cleanText(written.text), cleanText(written.thinking)];
  if (text.trim() === '' && thinking.trim() === '') return undefined;
  const turn: ModelTurn = {
    text,
    toolCalls: [],
    finishReason: 'cancelled',
    usage: toUsage(undefined),
    ...(thinking === '' ? {} : { thinking }),
    ...(text === written.text && thinking === written.thinking ? {} : { cleaned: true }),
  };
  return {
    type: 'model_answered',
    callId,
    turn: { ...turn, usage: estimateUsage(counting, call, turn) },
    contextHash: call.contextHash,
    refs: { ...call.refs, agent_version: agent.version.id },
  };
}
