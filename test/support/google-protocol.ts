import { inFragments } from './openai-protocol.ts';
import type { ModelAnswer } from './openai-server.ts';

/**
 * A response of Gemini's `:streamGenerateContent?alt=sse`, or of `:generateContent`. Every function call is signed
 * `sig-1`. Calls without an id omit it, as older models do.
 */
export function googleAnswer(response: ModelAnswer): { events: string[]; whole: unknown } {
  const { text = '', reasoning = '', toolCalls = [], usage = [10, 5], fragments = 3 } = response;
  const finishReason = response.finishReason ?? 'STOP';
  const base = { modelVersion: 'test-model', responseId: 'resp_1' };
  const usageMetadata = usage && {
    promptTokenCount: usage[0],
    candidatesTokenCount: usage[1],
    totalTokenCount: usage[0] + usage[1],
  };
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({
    functionCall: { ...(id ? { id } : {}), name, args: JSON.parse(args || '{}') as unknown },
    thoughtSignature: 'sig-1',
  }));
  const cut = (whole: string, more = {}) => inFragments(whole, fragments).map((piece) => ({ text: piece, ...more }));
  const pieces: object[] = [...cut(reasoning, { thought: true }), ...cut(text), ...calls];
  const answer = (parts: object[], more = {}, end = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    ...base,
    ...end,
  });
  const events = pieces.map((part) => answer([part]));
  events.push(answer([{ text: '' }], { finishReason }, usageMetadata ? { usageMetadata } : {}));

  const whole = [...(reasoning ? [{ text: reasoning, thought: true }] : []), ...(text ? [{ text }] : []), ...calls];
  return {
    events: events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
    whole: answer(whole, { finishReason }, usageMetadata ? { usageMetadata } : {}),
  };
}
