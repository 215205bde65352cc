import type { Message, ToolCall } from '../../src/agent/context/message.ts';
import { budget, type BudgetOptions, type Budgeted } from '../../src/agent/policy/budget.ts';
import { type PlacedMessage, place } from '../../src/agent/policy/groups.ts';
import { heuristicTokens } from '../../src/agent/policy/estimate.ts';
import type { ContextPolicy } from '../../src/agent/policy/types.ts';
import { readPolicy } from '../../src/agent/policy/read-policy.ts';

export const system = (content: string): Message => ({ role: 'system', content });
export const user = (content: string): Message => ({ role: 'user', content });
export const assistant = (content: string): Message => ({ role: 'assistant', content });
/** An assistant message with one call, and its result. */
export const round = (id: string, args: ToolCall['arguments'], result: string): Message[] => [
  { role: 'assistant', content: '', tool_calls: [{ id, name: 'calculator', arguments: args }] },
  { role: 'tool', content: result, tool_call_id: id, name: 'calculator' },
];

/** Messages as entries 0, 1, 2 … of a thread. */
export function placed(messages: readonly Message[], marks: Record<number, string> = {}): PlacedMessage[] {
  const out: PlacedMessage[] = [];
  for (const [seq, message] of messages.entries()) {
    const kind = marks[seq];
    out.push(place(out.at(-1), message, seq, kind ? { kind, durable: true } : null));
  }
  return out;
}

/** Budgets by the heuristic, under a limit that is all for the request. */
export function cut(
  messages: readonly PlacedMessage[],
  policy: ContextPolicy,
  { ceiling = null, ...options }: BudgetOptions & { ceiling?: number | null } = {},
): Budgeted & { sent: number[] } {
  const stored = readPolicy({ reserveOutputTokens: 0, ...policy });
  const tokens = messages.map(({ message }) => heuristicTokens(message));
  const most = typeof policy.maxInputTokens === 'number' ? policy.maxInputTokens : null;
  const done = budget(messages, tokens, stored, { budget: most, ceiling }, options);
  return { ...done, sent: done.included.flatMap((kept, i) => (kept ? [i] : [])) };
}
