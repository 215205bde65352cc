import { sinceGpt56 } from './file-tokens.ts';
import { createHash } from 'node:crypto';
import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { ModelSettings } from './settings.ts';

type ToolResult = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];

/** The parts of a model call that carry cache markers. */
interface Markable {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  settings: ModelSettings;
}

/**
 * Marks the prefix of a request that the next request will share, so that the provider caches it. The markers change
 * neither what the model reads nor the hash of the call. Calls to unknown providers, or to providers that need no
 * markers, stay unchanged; caching options in the call's own settings take precedence.
 *
 * @param model `provider` is the AI SDK's name, such as `anthropic.messages`
 * @param lane see `laneKey`
 */
export function withCacheMarkers<Call extends Markable>(
  call: Call,
  { provider, modelId }: Pick<LanguageModelV4, 'provider' | 'modelId'>,
  lane: string,
): Call {
  if (/(^|\.)anthropic\b/.test(provider)) return { ...call, ...breakpoints(call) };
  if (!/^openai\.(responses|chat)$/.test(provider)) return call;
  const prompt = sinceGpt56.test(modelId) ? withOpenAiBreakpoints(call) : call.prompt;
  return { ...call, prompt, settings: keyed(call.settings, lane) };
}

/** Identifies a lane to providers without revealing its name: requests with the same key share their prefix. */
export const laneKey = (threadId: string, contextRef: string): string =>
  createHash('sha256').update(`${threadId}/${contextRef}`).digest('hex').slice(0, 32);

/** Anthropic accepts four breakpoints, and looks for cached content at most 20 blocks before each of them. */
const marker = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * Breakpoints after the tools, after the system prompt, where the previous request ended, and at the end. The third
 * makes the cache hit no matter how many blocks a round of tools has added.
 */
function breakpoints({ prompt, tools, settings }: Markable): Pick<Markable, 'prompt' | 'tools'> {
  // Anthropic places the breakpoint itself
  if (settings.provider_options?.['anthropic']?.['cacheControl'] !== undefined) return { prompt, tools };
  const ends = sharedEnds(prompt).add(isSaid(prompt.at(-1)) ? prompt.length - 1 : -1);
  return {
    prompt: prompt.map((message, i) => (ends.has(i) ? marked(message) : message)),
    tools: tools.map((tool, i) => (i === tools.length - 1 ? marked(tool) : tool)),
  };
}

/** The index where the system prompt ends, and the one where the previous request ended; -1 if missing. */
function sharedEnds(prompt: LanguageModelV4Prompt): Set<number> {
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  return new Set([prompt.findLastIndex(({ role }) => role === 'system'), isSaid(prompt[answer - 1]) ? answer - 1 : -1]);
}

/**
 * From GPT-5.6 on, OpenAI reads its cache only at a request's breakpoints, and places one itself at the latest message.
 * This adds the other two: https://developers.openai.com/api/docs/guides/prompt-caching
 */
function withOpenAiBreakpoints({ prompt, settings }: Markable): LanguageModelV4Prompt {
  // the caller places them
  if (settings.provider_options?.['openai']?.['promptCacheOptions'] !== undefined) return prompt;
  const ends = sharedEnds(prompt);
  return prompt.map((message, i) => (ends.has(i) ? withBreakpoint(message) : message));
}

/** OpenAI marks a block, not a message: the last block of a user or tool message. */
function withBreakpoint(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === 'system') return stopped(message);
  if (message.role === 'user') return { ...message, content: lastOf(message.content, stopped) };
  if (message.role === 'tool') return { ...message, content: lastOf(message.content, stoppedResult) };
  return message;
}

function stoppedResult(result: ToolResult): ToolResult {
  if (result.type !== 'tool-result' || result.output.type !== 'content') return stopped(result);
  return { ...result, output: { ...result.output, value: lastOf(result.output.value, stopped) } };
}

const lastOf = <T>(items: readonly T[], change: (item: T) => T): T[] =>
  items.map((item, i) => (i === items.length - 1 ? change(item) : item));

function stopped<T extends { providerOptions?: SharedV4ProviderOptions }>(item: T): T {
  const { openai, ...others } = item.providerOptions ?? {};
  const breakpoint = { promptCacheBreakpoint: { mode: 'explicit' } };
  return { ...item, providerOptions: { ...others, openai: { ...breakpoint, ...openai } } };
}

/** Whether a request can end with this message; an answer may end in reasoning, which accepts no marker. */
const isSaid = (message: LanguageModelV4Message | undefined): boolean =>
  message?.role === 'user' || message?.role === 'tool';

function marked<T extends { providerOptions?: SharedV4ProviderOptions }>(item: T): T {
  const { anthropic, ...others } = item.providerOptions ?? {};
  return { ...item, providerOptions: { ...others, anthropic: { ...marker.anthropic, ...anthropic } } };
}

/** OpenAI finds the shared prefix itself; the key routes the request to the machine that has it cached. */
function keyed(settings: ModelSettings, lane: string): ModelSettings {
  const { openai, ...others } = settings.provider_options ?? {};
  return { ...settings, provider_options: { ...others, openai: { promptCacheKey: lane, ...openai } } };
}
