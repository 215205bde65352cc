import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '../../context/message.ts';

const count = (value: unknown): number =>
  typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.trunc(value) : 0;

/** The sum as providers report it, for servers that report nothing else. */
function reportedTotal(raw: LanguageModelV4Usage['raw']): number {
  const { total_tokens: ofOpenAi, totalTokens, totalTokenCount: ofGoogle } = raw ?? {};
  return count([ofOpenAi, totalTokens, ofGoogle].find((total) => typeof total === 'number'));
}

/**
 * The tokens of one model call. The three totals are always present, 0 when the provider did not count; if it counted
 * the sum and one part, the other part is the rest. Present only
 * when positive: `cache_read_tokens` and `cache_write_tokens`, part of the input, and `reasoning_tokens`, part of the
 * output.
 */
export function toUsage(usage: LanguageModelV4Usage | undefined): Usage {
  const input = usage?.inputTokens;
  const output = usage?.outputTokens;
  let input_tokens = count(input?.total);
  let output_tokens = count(output?.total);
  const rest = Math.max(0, reportedTotal(usage?.raw) - input_tokens - output_tokens);
  if (input_tokens === 0 && output_tokens > 0) input_tokens = rest;
  else if (output_tokens === 0 && input_tokens > 0) output_tokens = rest;
  const total_tokens = input_tokens + output_tokens || rest;
  const result: Usage = { input_tokens, output_tokens, total_tokens };
  if (count(input?.cacheRead) > 0) result.cache_read_tokens = count(input?.cacheRead);
  if (count(input?.cacheWrite) > 0) result.cache_write_tokens = count(input?.cacheWrite);
  if (count(output?.reasoning) > 0) result.reasoning_tokens = count(output?.reasoning);
  return result;
}

const finishReasons: Record<LanguageModelV4FinishReason['unified'], string> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'error',
  interrupted: 'incomplete',
  other: 'unknown',
};

/** Our name for the reason a model stopped; null when the provider gave none. */
export const toFinishReason = (reason: LanguageModelV4FinishReason | undefined): string | null =>
  reason == null ? null : (finishReasons[reason.unified] ?? 'unknown');
