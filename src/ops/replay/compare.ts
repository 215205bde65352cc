import canonicalize from 'canonicalize';
import { parseObject } from '../../agent/models/messages/assistant-parts.ts';
import type { RecordedMessage } from './messages.ts';

/** The compared parts of a message, whether it was recorded, sent to the model or read from the view. */
export interface Comparable {
  role: string;
  content: string;
  /** Arguments are canonical JSON, so the order of keys does not matter. */
  calls: { id: string; name: string; arguments: string }[];
  toolCallId?: string;
  name?: string;
}

/** The first difference between two conversations. */
export interface Difference {
  /** Index of the recorded message; the number of recorded messages if there are too many received ones. */
  message: number;
  field: string;
  expected: string;
  received: string;
}

export function toComparable(message: RecordedMessage): Comparable {
  const calls = message.role === 'assistant' ? message.calls : [];
  return {
    role: message.role,
    content: comparableText(message.content ?? ''),
    calls: calls.map((call) => ({ ...call, arguments: canonical(parseObject(call.arguments) ?? {}) })),
    ...(message.role === 'tool' ? { toolCallId: message.toolCallId, name: message.name } : {}),
  };
}

/** Content as one string: parts as canonical JSON. */
export const comparableText = (content: unknown): string =>
  typeof content === 'string' ? content : canonical(content);

export const canonical = (value: unknown): string => canonicalize(value) ?? 'null';

/** Compares message by message; undefined if there is no difference. `expected` has the recorded indices. */
export function firstDifference(
  expected: readonly { index: number; message: Comparable }[],
  received: readonly Comparable[],
): Difference | undefined {
  for (const [i, { index, message }] of expected.entries()) {
    const other = received[i];
    if (!other) return { message: index, field: 'message', expected: message.role, received: '(nothing)' };
    for (const [field, want, got] of fields(message, other)) {
      if (want !== got) return { message: index, field, expected: want, received: got };
    }
  }
  const extra = received[expected.length];
  if (!extra) return undefined;
  const end = (expected.at(-1)?.index ?? -1) + 1;
  return { message: end, field: 'message', expected: '(nothing)', received: `${extra.role}: ${extra.content}` };
}

function* fields(a: Comparable, b: Comparable): Generator<[string, string, string]> {
  yield ['role', a.role, b.role];
  yield ['content', a.content, b.content];
  yield ['tool_calls', String(a.calls.length), String(b.calls.length)];
  for (const [i, call] of a.calls.entries()) {
    const other = b.calls[i]!;
    yield [`tool_calls[${i}].id`, call.id, other.id];
    yield [`tool_calls[${i}].name`, call.name, other.name];
    yield [`tool_calls[${i}].arguments`, call.arguments, other.arguments];
  }
  yield ['tool_call_id', a.toolCallId ?? '', b.toolCallId ?? ''];
  yield ['name', a.name ?? '', b.name ?? ''];
}
