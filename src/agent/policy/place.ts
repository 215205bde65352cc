import type { Json, Message } from '../context/message.ts';
import { durableMark, type PlacedMessage } from './groups.ts';

/** A message with its place in the log; `before` is the previous message of its lane. */
export function place(before: PlacedMessage | undefined, message: Message, seq: number, refs?: Json): PlacedMessage {
  const sameEntry = before?.seq === seq && before.message.role !== 'system';
  const mark = markOf(refs);
  return { message, seq, index: sameEntry ? before.index + 1 : 0, ...(mark ? { mark } : {}) };
}

function markOf(refs: Json | undefined): string | undefined {
  if (typeof refs !== 'object' || refs === null || Array.isArray(refs)) return undefined;
  const { kind, durable } = refs;
  if (typeof kind !== 'string' || (kind === durableMark && durable !== true)) return undefined;
  return kind;
}

/** The messages with `prompt` in place of their system prompt. */
export function withPrompt(messages: readonly PlacedMessage[], prompt: string | undefined): readonly PlacedMessage[] {
  if (prompt === undefined) return messages;
  const [first, ...rest] = messages;
  const system: PlacedMessage = { message: { role: 'system', content: prompt }, seq: -1, index: 0 };
  return first?.message.role === 'system' ? [{ ...system, seq: first.seq }, ...rest] : [system, ...messages];
}
