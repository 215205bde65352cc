import { APICallError, type LanguageModelV4Content, type LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { oddAnswers, type Answer } from '../../../src/ops/chaos/provider.ts';
import type { Chances } from '../world/chances.ts';

const names = Object.keys(oddAnswers);

/** The odd answer to what was asked; undefined: the usual one. Seeds differ in how often there is one. */
export function oddAnswerTo(asked: string, chances: Chances): Answer | undefined {
  const random = chances.of(`odd ${asked}`);
  if (!random.chance(chances.of('how often odd').pick([0, 0, 0.04, 0.15]))) return undefined;
  return oddAnswers[random.pick(names)]!;
}

const usual = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const none = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
const zero = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};
const usages = { usual, none, zero };

const finishes: Record<string, LanguageModelV4GenerateResult['finishReason']['unified']> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
};

/** What a provider of the AI SDK makes of an answer. @throws APICallError if that is an error, or breaks */
export function toResult(answer: Answer): LanguageModelV4GenerateResult {
  const { text, reasoning, calls = [], finish = calls.length > 0 ? 'tool_calls' : 'stop' } = answer;
  if (answer.status !== undefined || answer.breaks !== undefined) throw toError(answer);
  const content: LanguageModelV4Content[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, args }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input: args,
    })),
  ];
  const finishReason = { unified: finishes[finish] ?? 'other', raw: finish };
  return { content, finishReason, usage: usages[answer.usage ?? 'usual'], warnings: [] };
}

const toError = ({ status, code, retryAfter = '0' }: Answer): APICallError =>
  new APICallError({
    message: 'odd',
    url: 'simulated',
    requestBodyValues: {},
    responseHeaders: { 'retry-after': retryAfter },
    ...(status === undefined ? {} : { statusCode: status }),
    isRetryable: status !== 400,
    data: { error: { message: 'odd', code } },
  });
