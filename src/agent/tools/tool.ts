import type { JSONSchema7, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject } from '../context/message.ts';

/**
 * What a tool gets besides its arguments; a new object for each attempt. STATE and CONTEXT are the types that the tool
 * expects of the thread state and the tool context; nothing checks them at run time.
 */
export interface ToolCallContext<STATE extends object = JsonObject, CONTEXT extends object = JsonObject> {
  threadId: string;
  runId: string;
  requestId: string;
  iteration: number;
  /** The provider's id of the call; not necessarily unique within a round. */
  toolCallId: string;
  round: number;
  callIndex: number;
  /** 1 for the first attempt. */
  attempt: number;
  /** `<run_id>:<round>:<call_index>`: the same for every attempt and after a crash. */
  idempotencyKey: string;
  /** Aborts on timeout, cancel and a lost lease. A tool that ignores it keeps running, but its result is dropped. */
  signal: AbortSignal;
  /** Snapshot of the thread's tool state, frozen and shared by the calls of a round. */
  state: STATE;
  /** `tool_context` of agent and request, merged. */
  context: CONTEXT;
}

/** The context of a call before its first attempt. */
export type PendingCallContext<STATE extends object = JsonObject, CONTEXT extends object = JsonObject> = Omit<
  ToolCallContext<STATE, CONTEXT>,
  'attempt'
>;

/**
 * What to do with a call that had started when its worker died: `safe` runs it again, `never` reports to the model that
 * the outcome is unknown, `verify` looks up what the lost attempt did and returns `undefined` to run the call again.
 *
 * A `never` call is attempted only once. A timeout or an exception leaves its outcome `unknown`; throw a ToolError to
 * say that it had no effect.
 */
export type ToolReplay<ARGS = unknown> =
  'safe' | 'never' | { verify: (args: ARGS, ctx: ToolCallContext) => Promise<{ result: unknown } | undefined> };

/** Limits of one tool; they take precedence over those of the run. */
export interface ToolLimits {
  /** Time limit of one attempt, in ms. */
  timeoutMs?: number;
  /** Retries after the first attempt. */
  maxRetries?: number;
  /** Constant pause before each retry, in ms. */
  retryBackoffMs?: number;
  /** Maximum size of a result in UTF-8 bytes. */
  maxResultBytes?: number;
}

export type ToolValidation = { ok: true; value: unknown } | { ok: false; message: string };

/** Whether a call needs human approval: always, or decided for each call. After a crash the function may run again. */
export type NeedsApproval<ARGS = unknown> =
  boolean | ((args: ARGS, ctx: PendingCallContext) => boolean | PromiseLike<boolean>);

/** A tool in the form used by the runtime, however it was defined. Immutable by convention. */
export interface Tool
  extends ToolLimits, Pick<LanguageModelV4FunctionTool, 'strict' | 'inputExamples' | 'providerOptions'> {
  name: string;
  description?: string;
  inputSchema: JSONSchema7;
  validate(args: unknown): Promise<ToolValidation>;
  /** Returns a value, a promise, or an async iterable, whose last value is the result. */
  execute(args: unknown, ctx: ToolCallContext): unknown;
  replay: ToolReplay;
  needsApproval?: NeedsApproval;
  /** Derives the `refs` of a successful result from its text. Only built-in tools set it. */
  resultRefs?: (content: string) => JsonObject;
  /** The agent that it gives work to. Only `agentTool` and `handoffTool` set it. */
  toAgent?: string;
  /** It does nothing but hand the run over. Only `handoffTool` sets it. */
  handsOver?: true;
  /** Offered even if the tool list of a request leaves it out. Only built-in tools set it. */
  always?: true;
}
