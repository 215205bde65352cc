import type { JSONSchema7, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject } from '../context/message.ts';

/** What a tool learns about the call it serves. One object per attempt. */
export interface ToolCallContext {
  threadId: string;
  runId: string;
  requestId: string;
  iteration: number;
  /** The provider's id of the call; it may repeat within a round. */
  toolCallId: string;
  round: number;
  callIndex: number;
  /** 1 for the first attempt. */
  attempt: number;
  /** `<run_id>:<round>:<call_index>`: the same for every attempt and after a crash. */
  idempotencyKey: string;
  /** Aborts on timeout, cancel and lost lease. A tool that ignores it is abandoned, not stopped. */
  signal: AbortSignal;
  /** Snapshot of the thread's tool state. Shared by the calls of a round: read it, do not change it. */
  state: JsonObject;
  /** `tool_context` of agent and request, merged. */
  context: JsonObject;
}

/** What is known of a call before its first attempt. */
export type PendingCallContext = Omit<ToolCallContext, 'attempt'>;

/**
 * What happens to a call that had started when its worker died: `safe` runs it again, `never` tells the model that the
 * outcome is unknown, `verify` looks up what the lost attempt did (`undefined`: nothing, run it again).
 */
export type Replay<ARGS = unknown> =
  'safe' | 'never' | { verify: (args: ARGS, ctx: ToolCallContext) => Promise<{ result: unknown } | undefined> };

/** Limits of one tool; each wins over the same limit of the run. */
export interface ToolLimits {
  /** Per attempt, ms. */
  timeoutMs?: number;
  /** Attempts after the first one. */
  maxRetries?: number;
  /** Constant pause between attempts, ms. */
  retryBackoffMs?: number;
  /** Largest result the model is shown, in UTF-8 bytes. */
  maxResultBytes?: number;
}

export type Validation = { ok: true; value: unknown } | { ok: false; message: string };

/** Whether somebody must approve a call first: fixed, or decided per call. It may be asked again after a crash. */
export type NeedsApproval<ARGS = unknown> =
  boolean | ((args: ARGS, ctx: PendingCallContext) => boolean | PromiseLike<boolean>);

/** A tool as the runtime uses it, whatever it was made from. Treated as immutable. */
export interface Tool
  extends ToolLimits, Pick<LanguageModelV4FunctionTool, 'strict' | 'inputExamples' | 'providerOptions'> {
  name: string;
  description?: string;
  inputSchema: JSONSchema7;
  validate(args: unknown): Promise<Validation>;
  /** May return a value, a promise, or an async iterable, of which the last value counts. */
  execute(args: unknown, ctx: ToolCallContext): unknown;
  replay: Replay;
  needsApproval?: NeedsApproval;
  /** What the log keeps in the `refs` of a successful result, from its text. Set by this library's own tools only. */
  resultRefs?: (content: string) => JsonObject;
}
