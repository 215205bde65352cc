import type { ModelAnswer } from './openai-server.ts';

/** Splits a text into `count` pieces at arbitrary positions. */
export function inFragments(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}

/** A response of POST /chat/completions: server-sent events, or one JSON document for calls that do not stream. */
export function openaiAnswer(answer: ModelAnswer): { events: string[]; whole: unknown } {
  const { text = '', reasoning = '', toolCalls = [], usage = [10, 5], fragments = 3 } = answer;
  const finish = answer.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  const base = { id: 'chatcmpl-1', created: 1, model: 'test-model' };
  const counted = usage && {
    prompt_tokens: usage[0],
    completion_tokens: usage[1],
    total_tokens: usage[0] + usage[1],
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const tokens = 'rawUsage' in answer ? answer.rawUsage : counted;
  const event = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const delta = (value: object, finish_reason: string | null = null) =>
    event([{ index: 0, delta: value, finish_reason }]);

  const events = [delta({ role: 'assistant', content: '' })];
  for (const piece of inFragments(reasoning, fragments)) events.push(delta({ reasoning_content: piece }));
  for (const piece of inFragments(text, fragments)) events.push(delta({ content: piece }));
  for (const [index, call] of toolCalls.entries()) {
    const named = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    events.push(delta({ tool_calls: [named] }));
    for (const piece of inFragments(call.arguments, fragments))
      events.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  events.push(delta({}, finish));
  if (tokens != null) events.push(event([], { usage: tokens }));
  events.push('data: [DONE]\n\n');

  const message = {
    role: 'assistant',
    content: text || null,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    tool_calls: toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
  };
  return {
    events,
    whole: { ...base, choices: [{ index: 0, message, finish_reason: finish }], usage: tokens ?? undefined },
  };
}
