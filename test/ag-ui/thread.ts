import type { Message } from '@ag-ui/core';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { JsonObject, Lanefold, ToolCall } from 'lanefold';
import type { FakeTurn } from '../support/fake-model.ts';

/**
 * The ids of a thread's messages in the order of its log, without reasoning: what a client has named keeps its name.
 *
 * @param results the ids that clients gave results, by the id of the call
 */
export async function loggedIds(lanefold: Lanefold, threadId: string, results: Map<string, string>): Promise<string[]> {
  const ids: string[] = [];
  let open: string[] = [];
  for (const { role, seq, payload, refs } of await lanefold.threads.entries(threadId, {
    kind: 'ai_message',
    limit: 1_000,
  })) {
    if (role === 'assistant') {
      const id = String(refs['llm_call_id'] ?? `entry_${seq}`);
      const calls = (payload['tool_calls'] ?? []) as unknown as ToolCall[];
      open = calls.map((_, index) => `${id}#${index}`);
      if (payload['content'] || calls.length > 0) ids.push(id);
    } else if (role === 'tool') {
      const call = open.shift()!;
      ids.push(results.get(call) ?? `${call}.result`);
    } else if (role === 'user' && refs['kind'] === undefined) {
      ids.push(String((refs['ag_ui'] as JsonObject | undefined)?.['message_id'] ?? `entry_${seq}`));
    }
  }
  return ids;
}

/** The ids of what a client has, without reasoning and activities. */
export const idsOf = (messages: readonly Message[]): string[] =>
  messages.filter(({ role }) => role !== 'reasoning' && role !== 'activity').map(({ id }) => id);

/**
 * A model that does what the newest question asks for: `where look, where` are two rounds of calls, then an answer. It
 * thinks first if the question says `think`.
 */
export function obedient({ prompt }: LanguageModelV4CallOptions): FakeTurn {
  const from = prompt.findLastIndex(({ role }) => role === 'user');
  const asked = (prompt[from]!.content as { text: string }[])[0]!.text;
  const done = prompt.slice(from).filter(({ role }) => role === 'assistant').length;
  const names = asked.split(',').map((round) => round.match(/where|look/g) ?? []);
  const calls = names.filter((round) => round.length > 0)[done] ?? [];
  const thinking = asked.includes('think') ? { thinking: `About ${asked} (${done})` } : {};
  if (calls.length === 0) return { ...thinking, text: `Answer to ${asked}` };
  return { ...thinking, calls: calls.map((name) => ({ id: 'c', name, args: { round: done } })) };
}
