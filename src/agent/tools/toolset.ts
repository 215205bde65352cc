import { LanefoldError } from '../../base/errors.ts';
import { invalidTool, acceptableNames, checkTool, type Tool } from './tool.ts';
import { errorMessage, type ToolOutcome } from './outcome.ts';
import type { Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import { fromAiSdkTool, isMcpTool } from './ai-sdk-tool.ts';
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { setMaxListeners } from 'node:events';
import pLimit from 'p-limit';
import type { ToolCall } from '../context/message.ts';
import { onAbort } from '../../base/common/timer.ts';

/** The tools by name, in list order. @throws LanefoldError `invalid_tool` if two have the same name */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw invalidTool(tool.name, 'is listed twice', 'Rename one of them.');
    byName.set(tool.name, tool);
  }
  return byName;
}

/** The outcome of a call to a tool that the agent does not have. Not fatal: the model reads it and continues. */
export const unknownTool = (name: string): ToolOutcome => ({
  ...errorMessage({ type: 'unknown_tool', message: `Tool '${name}' not found`, retryable: false }),
  attempts: 1,
  durationMs: 0,
});

/** The error for tool names in a request or configuration that do not exist. */
export function unknownTools(names: readonly string[], known: Iterable<string>): LanefoldError {
  const sorted = [...new Set(known)].sort();
  const missing = [...names].sort();
  return new LanefoldError(
    'unknown_tool',
    missing.length === 1
      ? `Tool ${JSON.stringify(missing[0])} does not exist.`
      : `Tools ${missing.map((name) => JSON.stringify(name)).join(', ')} do not exist.`,
    { hint: `Known tools: ${sorted.join(', ') || 'none'}.`, details: { tools: missing, known: sorted } },
  );
}

/** Tools by name: from the AI SDK, the `tools()` of an MCP client, or `defineTool`. */
export type ToolRecord = Record<string, AiSdkTool | Tool>;

/** The tools of an agent: a record, or a list of tools and records. */
export type ToolListing = ToolRecord | readonly (Tool | ToolRecord)[];

/** A tool of an MCP server that got another name, because providers reject its own or another tool has it. */
export interface RenamedTool {
  from: string;
  to: string;
}

interface NormaliseOptions {
  /** Names of tools that are added later. */
  taken?: Iterable<string>;
  onRename?: (renamed: RenamedTool) => void;
}

/**
 * Converts a listing to the runtime's tools, frozen and in listing order. Resolves lazy schemas once. Renames tools of MCP
 * servers where necessary: the application cannot choose their names.
 *
 * @throws LanefoldError `invalid_tool` for a tool that `checkTool` rejects, and for two tools with the same name
 */
export async function normaliseTools(listing: ToolListing, options: NormaliseOptions = {}): Promise<readonly Tool[]> {
  const entries = Array.isArray(listing) ? (listing as readonly (Tool | ToolRecord)[]) : [listing as ToolRecord];
  const named = renameMcpTools(entries.flatMap(open), options);
  const tools = await Promise.all(named.map(([name, tool]) => normalise(name, tool)));
  toolsByName(tools);
  return Object.freeze(tools);
}

type Named = [name: string, tool: Tool | AiSdkTool];

function renameMcpTools(named: Named[], { taken = [], onRename }: NormaliseOptions): Named[] {
  const ofMcp = named.filter(([, tool]) => isMcpTool(tool));
  const others = named.flatMap(([name, tool]) => (isMcpTool(tool) ? [] : [name]));
  const names = acceptableNames(
    ofMcp.map(([name]) => name),
    [...taken, ...others],
  );
  return named.map(([from, tool]) => {
    if (!isMcpTool(tool)) return [from, tool];
    const to = names.shift()!;
    if (to !== from) onRename?.({ from, to });
    return [to, tool];
  });
}

function open(entry: Tool | ToolRecord): Named[] {
  if (isTool(entry)) return [[entry.name, entry]];
  if (typeof entry !== 'object' || entry === null)
    throw invalidTool(entry, 'is not a tool', 'List tools made with defineTool(), or a record { name: tool }.');
  if ('inputSchema' in entry && typeof entry.execute === 'function')
    throw invalidTool(undefined, 'of the AI SDK needs a name', 'List it in a record: { name: tool }.');
  return Object.entries(entry);
}

async function normalise(name: string, tool: Tool | AiSdkTool): Promise<Tool> {
  if (!isTool(tool)) return fromAiSdkTool(name, tool);
  if (tool.name !== name) throw invalidTool(tool.name, `is listed as ${JSON.stringify(name)}`, 'Use one name.');
  return checkTool(tool);
}

// The values of a record are objects, so a record with tools called `name` and `validate` is not mistaken for a tool.
const isTool = (entry: unknown): entry is Tool => {
  const { name, validate } = Object(entry) as Partial<Tool>;
  return typeof name === 'string' && typeof validate === 'function';
};

const cache = new WeakMap<readonly Tool[], LanguageModelV4FunctionTool[]>();

/**
 * The tool descriptions sent to the model, in list order. Identical bytes in every call keep prompt caches warm.
 *
 * Cached per list, so a list must not change afterwards (`normaliseTools` freezes its own).
 */
export function describeTools(tools: readonly Tool[]): LanguageModelV4FunctionTool[] {
  let described = cache.get(tools);
  if (!described) cache.set(tools, (described = tools.map(describe)));
  return described;
}

function describe(tool: Tool): LanguageModelV4FunctionTool {
  const { name, description, inputSchema, inputExamples, strict, providerOptions } = tool;
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    inputSchema,
    ...(inputExamples && { inputExamples }),
    ...(strict !== undefined && { strict }),
    ...(providerOptions && { providerOptions }),
  };
}

export interface RoundOptions {
  /** Maximum concurrent calls, at least 1; default 4. */
  concurrency?: number;
  /** Awaited for each outcome, with the index of its call; the call keeps its slot until this resolves. */
  onOutcome: (index: number, outcome: ToolOutcome) => Promise<void>;
  /** Ends the round early: on cancel or a lost lease. */
  signal?: AbortSignal;
}

/**
 * Runs the calls of one model turn, starting them in call order, and returns their outcomes in call order.
 *
 * The first rejection of `run` or `onOutcome`, or an abort of `signal`, ends the round with that reason: the signal
 * passed to `run` aborts, no further call starts, no further outcome is reported, and running calls are abandoned.
 */
export async function runToolRound(
  calls: readonly ToolCall[],
  run: (call: ToolCall, index: number, signal: AbortSignal) => Promise<ToolOutcome>,
  { concurrency = 4, onOutcome, signal: outer }: RoundOptions,
): Promise<ToolOutcome[]> {
  outer?.throwIfAborted();
  if (calls.length === 1 && outer) {
    // Most rounds have one call: there is nothing to limit and no other call to stop.
    const outcome = await run(calls[0]!, 0, outer);
    outer.throwIfAborted();
    await onOutcome(0, outcome);
    return [outcome];
  }
  const controller = new AbortController();
  const { signal } = controller;
  // Every running call adds a listener; Node would warn of a leak at the eleventh.
  setMaxListeners(0, signal);
  const limit = pLimit(concurrency);

  const work = async (call: ToolCall, index: number): Promise<ToolOutcome> => {
    signal.throwIfAborted();
    try {
      const outcome = await run(call, index, signal);
      signal.throwIfAborted();
      await onOutcome(index, outcome);
      return outcome;
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  };

  const unlisten = onAbort(outer, () => controller.abort(outer?.reason));
  try {
    // The race ends the round even if a `run` ignores its signal.
    const ended = new Promise<never>((_, reject) => onAbort(signal, () => reject(signal.reason)));
    return await Promise.race([Promise.all(calls.map((call, index) => limit(work, call, index))), ended]);
  } finally {
    unlisten();
  }
}
