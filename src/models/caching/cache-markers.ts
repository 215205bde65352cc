import { createHash } from 'node:crypto';
import type {
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { ModelSettings } from '../settings/settings.ts';

/** The parts of a model call that carry cache markers. */
interface Markable {
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  settings: ModelSettings;
}

/**
 * Tells the provider which beginning of a request the next one will share. What is said to the model does not change, and
 * neither does its hash. Providers that need no marker, or are unknown, get the call as it is; what the settings of the call
 * say about caching wins.
 *
 * @param provider as the model of the AI SDK calls it, such as `anthropic.messages`
 * @param lane see `laneKey`
 */
export function withCacheMarkers<Call extends Markable>(call: Call, provider: string, lane: string): Call {
  if (/(^|\.)anthropic\b/.test(provider)) return { ...call, ...breakpoints(call) };
  if (/^openai\.(responses|chat)$/.test(provider)) return { ...call, settings: keyed(call.settings, lane) };
  return call;
}

/** Identifies a lane to providers, which should not learn its name: requests with the same key share their beginning. */
export const laneKey = (threadId: string, contextRef: string): string =>
  createHash('sha256').update(`${threadId}/${contextRef}`).digest('hex').slice(0, 32);

/** Anthropic takes four breakpoints, and looks for what it has cached at most 20 blocks before each of them. */
const marker = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * After the tools, after the system prompt, where the request before this one ended, and at the end. The third makes the
 * cache hit however many blocks a round of tools has added.
 */
function breakpoints({ prompt, tools, settings }: Markable): Pick<Markable, 'prompt' | 'tools'> {
  // Anthropic places the breakpoint itself
  if (settings.provider_options?.['anthropic']?.['cacheControl'] !== undefined) return { prompt, tools };
  const prompts = prompt.findLastIndex(({ role }) => role === 'system');
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  const ends = new Set([
    prompts,
    isSaid(prompt[answer - 1]) ? answer - 1 : -1,
    isSaid(prompt.at(-1)) ? prompt.length - 1 : -1,
  ]);
  return {
    prompt: prompt.map((message, i) => (ends.has(i) ? marked(message) : message)),
    tools: tools.map((tool, i) => (i === tools.length - 1 ? marked(tool) : tool)),
  };
}

/** Messages that a request can end with; an answer may end in reasoning, which takes no marker. */
const isSaid = (message: LanguageModelV4Message | undefined): boolean =>
  message?.role === 'user' || message?.role === 'tool';

function marked<T extends { providerOptions?: SharedV4ProviderOptions }>(item: T): T {
  const { anthropic, ...others } = item.providerOptions ?? {};
  return { ...item, providerOptions: { ...others, anthropic: { ...marker.anthropic, ...anthropic } } };
}

/** OpenAI finds the beginning itself, on the machine that the key leads to. */
function keyed(settings: ModelSettings, lane: string): ModelSettings {
  const { openai, ...others } = settings.provider_options ?? {};
  return { ...settings, provider_options: { ...others, openai: { promptCacheKey: lane, ...openai } } };
}
