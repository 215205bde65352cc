import { type JsonObject, textOf } from '../context/message.ts';
import { summaryMark, type PlacedMessage } from './groups.ts';
import type { CompactionPlan } from './plan-compaction.ts';

/** Increment with each change of the instruction, so that the log shows which version a summary was made with. */
export const summaryPromptVersion = 2;

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
      ? `the part from ${named(messages[first]!)} to ${named(messages[last]!)}, both included`
      : stays > 0
        ? `everything before ${named(messages[stays]!)}`
        : 'everything above';
  return `Summarise the conversation: ${part}.

Your summary replaces these messages. The assistant that continues the conversation sees only your summary of them, so it must contain everything needed to continue.

Keep:
- what the user wants: the request, and every requirement, preference and correction that still applies;
- facts that were established, and decisions with their reasons;
- what was done, and what was tried and failed, with the cause;
- results of tool calls that are still needed;
- open tasks, unanswered questions, and the next step;
- names, numbers, dates, identifiers, file names, URLs and error messages that may be needed again, copied exactly;
- what still applies from an earlier summary.

Leave out greetings, repetitions, and whatever no longer matters. Add nothing that the messages do not say, and present no assumption as a fact.

Write plain text in the language of the conversation, much shorter than the messages it replaces. Reply with the summary alone: do not call tools, do not answer the messages, and do not continue the conversation.`;
}

/** The message that replaces what was summarised. */
export const summaryMessage = (text: string): JsonObject => ({
  role: 'user',
  content: `Summary of earlier messages:\n${text.trim()}`,
  refs: { kind: summaryMark },
});

/** Names a message by what the model can find in its context: the beginning of its text or tool call. */
function named({ message }: PlacedMessage): string {
  const text = textOf(message.content).replaceAll(/\s+/g, ' ').trim();
  if (text !== '') return `the message ${JSON.stringify(cut(text))}`;
  const [call] = message.tool_calls ?? [];
  if (!call) return `the ${message.role} message without text`;
  return `the tool call ${cut(`${call.name}(${call.arguments_raw ?? JSON.stringify(call.arguments)})`)}`;
}

const cut = (text: string): string => (text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text);
