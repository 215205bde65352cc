import { canonicalMessage, contextHash } from '../../agent/context/canonical.ts';
import type { Message } from '../../agent/context/message.ts';
import { writeCaseLine } from '../../features/evals/cases/case-line.ts';
import type { Expected } from '../../features/evals/item.ts';
import { parseObject } from '../../agent/models/messages/assistant-parts.ts';
import type { RecordedMessage } from './messages.ts';
import type { Recording } from './recording.ts';

/** Each turn of a recording as the line of a case: the messages before it, and what the model answered as expected. */
export function* casesIn({ conversations }: Recording, asked: { agent: string; model: string }): Generator<string> {
  for (const { messages: recorded } of conversations) {
    const messages = recorded.map(toMessage);
    for (const [index, message] of recorded.entries()) {
      if (message.role !== 'assistant') continue;
      const before = messages.slice(0, index);
      yield writeCaseLine({
        ...{
          messages: before,
          contextHash: contextHash(before),
          ...asked,
          kind: 'call',
          expected: expectedOf(message),
        },
        ...{ tags: [], split: null, note: null },
      });
    }
  }
}

/** The first call that the model made, or else its text. A blank turn says nothing. */
function expectedOf({ content, calls }: Extract<RecordedMessage, { role: 'assistant' }>): Expected | null {
  const [call] = calls;
  if (call) return { tool: { name: call.name, arguments: parseObject(call.arguments) ?? {} } };
  return content ? { answer: content } : null;
}

function toMessage(message: RecordedMessage): Message {
  const { role, content } = message;
  if (message.role === 'tool')
    return canonicalMessage({ role, content, tool_call_id: message.toolCallId, name: message.name });
  if (message.role !== 'assistant') return canonicalMessage({ role, content });
  const calls = message.calls.map(({ id, name, arguments: args }) => {
    const parsed = parseObject(args);
    return { id, name, arguments: parsed ?? {}, ...(parsed ? {} : { arguments_raw: args }) };
  });
  return canonicalMessage({ role, content, tool_calls: calls });
}
