import type { JSONSchema7, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { createHash } from 'node:crypto';

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
 * `readOnly`: the call changes nothing and is cheap to repeat, so that a crash may leave no trace of it. A round of such calls
 * begins while the answer that makes them is stored, and their outcomes are stored together when the last one has come.
 *
 * A `never` call is attempted only once. A timeout or an exception leaves its outcome `unknown`; throw a ToolError to
 * say that it had no effect.
 */
export type ToolReplay<ARGS = unknown> =
  | 'safe'
  | 'readOnly'
  | 'never'
  | { verify: (args: ARGS, ctx: ToolCallContext) => Promise<{ result: unknown } | undefined> };

/** Whether a call that had started runs again, whatever the lost attempt did. */
export const runsAgain = (replay: ToolReplay): replay is 'safe' | 'readOnly' =>
  replay === 'safe' || replay === 'readOnly';

/** Limits of one tool; they take precedence over the run's. */
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

export const invalidTool = (name: unknown, why: string, hint?: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_tool', `Tool ${JSON.stringify(name) ?? String(name)} ${why}.`, {
    ...(hint && { hint }),
    ...(cause !== undefined && { cause }),
    details: { name },
  });

const limits = { timeoutMs: 1, maxRetries: 0, retryBackoffMs: 0, maxResultBytes: 1 } as const;

/** Returns the tool unchanged. @throws LanefoldError `invalid_tool` if the runtime or a provider could not use it */
export function checkTool(tool: Tool): Tool {
  const { name, replay } = tool;
  if (typeof name !== 'string' || !isToolName(name))
    throw invalidTool(
      name,
      'has a name that providers reject',
      'Use 1 to 64 letters, digits, underscores and hyphens.',
    );
  if (typeof tool.execute !== 'function')
    throw invalidTool(name, 'has no execute function', 'Add one; Lanefold runs every tool itself.');
  if (typeof tool.validate !== 'function')
    throw invalidTool(name, 'has no validate function', 'Create the tool with defineTool().');
  const verifies = typeof replay === 'object' && replay !== null && typeof replay.verify === 'function';
  if (replay !== 'never' && !runsAgain(replay) && !verifies)
    throw invalidTool(name, 'has an invalid replay', "Use 'safe', 'readOnly', 'never' or { verify }.");
  if (replay === 'never' && tool.maxRetries)
    throw invalidTool(name, "has retries, but replay: 'never' attempts a call once", 'Remove maxRetries.');
  if (tool.needsApproval !== undefined && !['boolean', 'function'].includes(typeof tool.needsApproval))
    throw invalidTool(name, 'has an invalid needsApproval', 'Use true, false or a function.');
  const type: unknown = tool.inputSchema?.type;
  if (typeof tool.inputSchema !== 'object' || tool.inputSchema === null || (type !== undefined && type !== 'object'))
    throw invalidTool(
      name,
      'has an input schema that does not describe an object',
      'Wrap the input: z.object({ value: ... }).',
    );
  for (const [key, minimum] of Object.entries(limits)) {
    const value = tool[key as keyof typeof limits];
    if (value !== undefined && !(typeof value === 'number' && value >= minimum))
      throw invalidTool(name, `has an invalid ${key}: it must be a number of at least ${minimum}`);
  }
  return tool;
}

/** Longest name of a tool that every provider accepts. */
const maxLength = 64;

/** Every provider accepts these names; some accept more. */
const accepted = /^[A-Za-z0-9_-]{1,64}$/;

const isToolName = (name: string): boolean => accepted.test(name);

/**
 * For each of `names`, a name that every provider accepts and no other tool has: the name itself where possible, else one
 * made from it. Where several names would become the same, each gets a hash of the original, so that the order in which
 * a server lists them does not matter. Of equal names, the later ones are numbered.
 *
 * @param taken names of other tools
 */
export function acceptableNames(names: readonly string[], taken: Iterable<string> = []): string[] {
  const used = new Set(taken);
  const claim = (name: string): string => {
    used.add(name);
    return name;
  };
  const found = names.map((name) => (isToolName(name) && !used.has(name) ? claim(name) : undefined));
  const madeOf = new Map<string, Set<string>>();
  for (const [i, name] of names.entries()) {
    if (found[i] !== undefined) continue;
    const made = cleanName(name);
    madeOf.set(made, (madeOf.get(made) ?? new Set()).add(name));
  }
  return names.map((name, i) => {
    const kept = found[i];
    if (kept !== undefined) return kept;
    const made = cleanName(name);
    const shared = made.length > maxLength || madeOf.get(made)!.size > 1 || (used.has(made) && !isToolName(name));
    const base = shared ? withSuffix(made, hashOf(name)) : made;
    let free = base;
    for (let n = 2; used.has(free); n++) free = withSuffix(base, String(n));
    return claim(free);
  });
}

const cleanName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'tool';
const withSuffix = (name: string, suffix: string): string =>
  `${name.slice(0, maxLength - 1 - suffix.length)}_${suffix}`;
const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 8);
