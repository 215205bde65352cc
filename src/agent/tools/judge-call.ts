import { argumentsOf, type ToolCall, type Json } from '../context/message.ts';
import { cutText, type AnswerCut } from '../context/fold.ts';
import { errorMessage, type ToolOutcome } from './outcome.ts';
import type { Tool, PendingCallContext } from './tool.ts';
import { runAttempt, checkArguments } from './execute.ts';
import { readThrown } from './tool-error.ts';

/** Of a longer text of arguments, the model is shown both ends. */
const shownLength = 1_000;

/**
 * The outcome of a call that may not run; undefined if it may. Follows from the call as the log has it, and from how its
 * answer ended, so every worker judges alike. Everything else comes after this: its tool, guards, approvals, waits,
 * other agents.
 *
 * @param tool undefined if the agent has no such tool
 * @param cut set if the answer was cut; then even arguments that can be read may lack their end
 */
export function judgeCall(call: ToolCall, tool: Tool | undefined, cut: AnswerCut | undefined): ToolOutcome | undefined {
  if (cut)
    return refused(
      'answer_cut',
      `${cutText(cut, 'Your answer')}, so its calls were not executed. ${advice[cut.reason]}`,
    );
  const { arguments_raw: written } = call;
  const read = argumentsOf(call);
  if (!read.ok) {
    const shown = shorten(written ?? JSON.stringify(call.arguments));
    return refused('invalid_arguments', `${read.problem} You wrote: ${shown}`);
  }
  const required = tool?.inputSchema.required ?? [];
  if (written == null || written.trim() !== '' || required.length === 0) return undefined;
  return refused('invalid_arguments', `The call has no arguments, but the tool requires ${required.join(', ')}.`);
}

/** The outcomes of the calls of a round that may not run, by index. */
export const refusedCalls = (
  calls: readonly ToolCall[],
  tools: ReadonlyMap<string, Tool>,
  cut: AnswerCut | undefined,
): Map<number, ToolOutcome> =>
  new Map(
    calls.flatMap((call, index) => {
      const tool = tools.get(call.name);
      // a call of an unknown tool gets another error
      const outcome = tool || cut ? judgeCall(call, tool, cut) : undefined;
      return outcome ? [[index, outcome] as const] : [];
    }),
  );

const advice = {
  length: 'Make the calls again, with shorter arguments or fewer calls at a time.',
  content_filter: 'Continue without what it stopped.',
};

const refused = (type: string, message: string): ToolOutcome => ({
  ...errorMessage({ type, message, retryable: false }),
  attempts: 0,
  durationMs: 0,
});

const shorten = (text: string): string => {
  if (text.length <= shownLength) return text;
  return `${text.slice(0, shownLength / 2)} … ${text.slice(-shownLength / 2)}`;
};

/** Maximum tool calls in one answer, unless an agent sets another limit; close to the limits of the providers. */
export const defaultMaxToolCalls = 128;

/**
 * The calls of an answer that are logged. An answer with too many keeps one more than the limit, enough to show that it
 * had too many: each call costs a row in the ledger and a message in every later request.
 */
export const loggedCalls = (calls: ToolCall[], limit: number): ToolCall[] => calls.slice(0, limit + 1);

/** The outcome of every call of an answer with too many calls; the model reads it and can make fewer. */
export const tooManyToolCalls = (limit: number): ToolOutcome => ({
  ...errorMessage({
    type: 'too_many_tool_calls',
    message: `Your answer made more than ${limit} tool calls, so they were not executed. Make at most ${limit} at a time.`,
    retryable: false,
  }),
  attempts: 0,
  durationMs: 0,
});

/**
 * Whether a call needs human approval. A call with invalid arguments needs no approval, because it fails anyway. If the
 * predicate throws or exceeds the tool timeout, the call needs approval: a broken predicate must not let calls through.
 */
export async function asksApproval(
  tool: Tool,
  call: ToolCall,
  ctx: PendingCallContext,
  timeoutMs: number,
): Promise<boolean> {
  const { needsApproval: needs } = tool;
  if (!needs) return false;
  const checked = await checkArguments(tool, call, timeoutMs, ctx.signal);
  if (!checked.ok) return false;
  if (needs === true) return true;
  try {
    return Boolean(await runAttempt((signal) => needs(checked.value, { ...ctx, signal }), timeoutMs, ctx.signal));
  } catch {
    ctx.signal.throwIfAborted();
    return true;
  }
}

/** A tool call as the model made it. */
export interface GuardedCall extends PendingCallContext {
  name: string;
  /** A copy; changing it does not change the call. */
  arguments: Json;
}

/**
 * Undefined or `true` allows the call; `{ block }` blocks it and gives the model the reason instead of a result; `{
 * fail }` ends the run as failed before any tool of the round starts.
 */
export type GuardVerdict = void | boolean | { block: string } | { fail: string };

/** A guard has failed the run. */
export class GuardFailure extends Error {
  override readonly name = 'GuardFailure';
}

/**
 * Inspects every call of a round, in call order, before any of them starts. A guard that throws, exceeds the tool
 * timeout or returns anything else blocks the call.
 */
export type GuardTool = (call: GuardedCall) => GuardVerdict | PromiseLike<GuardVerdict>;

/**
 * The outcome of a blocked call, with error type `tool_guardrail`; undefined if the guard allows the call.
 *
 * @throws GuardFailure if the guard fails the run
 */
export async function askGuard(
  guard: GuardTool,
  call: ToolCall,
  ctx: PendingCallContext,
  timeoutMs: number,
): Promise<ToolOutcome | undefined> {
  const ask = (signal: AbortSignal) =>
    guard({ ...ctx, signal, name: call.name, arguments: structuredClone(call.arguments) });
  try {
    const verdict = (await runAttempt(ask, timeoutMs, ctx.signal)) as unknown;
    if (verdict === undefined || verdict === true) return undefined;
    const { block, fail } = Object(verdict) as { block?: unknown; fail?: unknown };
    if (typeof fail === 'string') throw new GuardFailure(fail || 'The call is not allowed.');
    return blocked(typeof block === 'string' && block !== '' ? block : 'The call is not allowed.');
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof GuardFailure) throw error;
    return blocked(`The guard could not check the call: ${readThrown(error).message}`);
  }
}

const blocked = (message: string): ToolOutcome => ({
  ...errorMessage({ type: 'tool_guardrail', message, retryable: false }),
  attempts: 0,
  durationMs: 0,
});
