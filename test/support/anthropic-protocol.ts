import { inFragments } from './openai-protocol.ts';
import type { ModelAnswer } from './openai-server.ts';

/** A response of POST /messages with thinking, text and tool_use blocks; every thinking block is signed `sig-1`. */
export function anthropicAnswer(answer: ModelAnswer): { events: string[]; whole: unknown } {
  const { text = '', reasoning = '', toolCalls = [], usage = [10, 5], fragments = 3 } = answer;
  const stop_reason = answer.finishReason ?? (toolCalls.length > 0 ? 'tool_use' : 'end_turn');
  const [input_tokens, output_tokens] = usage ?? [0, 0];
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'test-model' };
  const events: string[] = [];
  const emit = (type: string, fields: object) =>
    events.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const content: object[] = [];
  const block = (start: object, deltas: object[], whole: object) => {
    const index = content.push(whole) - 1;
    emit('content_block_start', { index, content_block: start });
    for (const delta of deltas) emit('content_block_delta', { index, delta });
    emit('content_block_stop', { index });
  };

  emit('message_start', {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens, output_tokens: 1 },
    },
  });
  if (reasoning) {
    const deltas: object[] = inFragments(reasoning, fragments).map((thinking) => ({
      type: 'thinking_delta',
      thinking,
    }));
    const signed = { type: 'thinking', thinking: reasoning, signature: 'sig-1' };
    block(
      { ...signed, thinking: '', signature: '' },
      [...deltas, { type: 'signature_delta', signature: 'sig-1' }],
      signed,
    );
  }
  if (text) {
    const deltas = inFragments(text, fragments).map((piece) => ({ type: 'text_delta', text: piece }));
    block({ type: 'text', text: '' }, deltas, { type: 'text', text });
  }
  for (const call of toolCalls) {
    const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
    const deltas = inFragments(call.arguments, fragments).map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    }));
    block(start, deltas, { ...start, input: JSON.parse(call.arguments || '{}') as unknown });
  }
  emit('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } });
  emit('message_stop', {});

  return {
    events,
    whole: { ...message, content, stop_reason, stop_sequence: null, usage: { input_tokens, output_tokens } },
  };
}
