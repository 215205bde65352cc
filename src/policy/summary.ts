import { type JsonObject, textOf } from '../context/message.ts';
import { summaryMark, type PlacedMessage } from './groups.ts';
import type { CompactionPlan } from './plan-compaction.ts';

/** Increment with each change of the instruction, so that the log shows which version a summary was made with. */
export const summaryPromptVersion = 1;

/**
 * The instruction that follows the context. Coming last, it leaves the beginning of the request as before, so that the
 * cache of the provider still covers it.
 */
export function summaryInstruction(messages: readonly PlacedMessage[], plan: CompactionPlan): string {
  const first = plan.covered[0]!;
  const last = plan.covered.at(-1)!;
  const stays = messages.findIndex((_, i) => i > last && !plan.covered.includes(i));
  const part =
    first > 0 && plan.at > 0
      ? `the part that begins with the message ${quote(messages[first]!)} and ends with the message ${quote(messages[last]!)}`
      : stays > 0
        ? `everything before the message ${quote(messages[stays]!)}`
        : 'everything above';
  return [
    `Summarise the conversation: ${part}. Your summary takes its place, and whoever goes on has nothing else of it.`,
    'Keep what is needed to go on: what the user wants and has decided, facts, names, numbers, identifiers and file names word for word, results of tools that matter, what was tried and failed, and what is still open.',
    'Leave out greetings, repetitions and whatever has been settled for good. Keep the language of the conversation.',
    'Answer with the summary alone, in plain text. Do not call tools, and do not answer or continue the conversation.',
  ].join('\n');
}

/** The message that replaces what was summarised. */
export const summaryMessage = (text: string): JsonObject => ({
  role: 'user',
  content: `Summary of earlier conversation:\n${text.trim()}`,
  refs: { kind: summaryMark },
});

function quote({ message }: PlacedMessage): string {
  const text =
    textOf(message.content).replaceAll(/\s+/g, ' ').trim() || (message.tool_calls?.[0]?.name ?? message.role);
  return JSON.stringify(text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text);
}
