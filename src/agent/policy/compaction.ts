import { startOfTurn, fitNewest } from './cut-groups.ts';
import { groupMessages, type Group, type PlacedMessage, summaryMark } from './groups.ts';
import { type JsonObject, textOf } from '../context/message.ts';

export interface CompactionScope {
  /** Entries, inclusive. A group that is only partly inside is not summarised. */
  range?: readonly [from: number, to: number] | undefined;
  /** The newest turns to keep, as far as they fit into `room`; default 1. */
  keepTurns?: number | undefined;
  /** Maximum tokens of the messages that stay; default: no limit. */
  room?: number | undefined;
}

export interface CompactionPlan {
  /** Positions of the messages that stay, in a context without its system prompt: first and last. */
  keep: [first: number, last: number][];
  /** How many of these ranges precede the summary. */
  at: number;
  /** Positions of the messages to summarise, ascending. */
  covered: number[];
  /** First and last entry of the covered messages. */
  entries: [from: number, to: number];
  /** Tokens of the covered messages. */
  tokens: number;
}

/**
 * Plans which messages of a context a summary replaces: whole groups, nothing durable, and without a range
 * neither the newest turns nor the newest question.
 * Undefined if nothing is left except the summary of an earlier compaction. Pure.
 *
 * @param messages without the system prompt
 * @param tokens of each message
 */
export function planCompaction(
  messages: readonly PlacedMessage[],
  tokens: readonly number[],
  { range, keepTurns = 1, room = Infinity }: CompactionScope,
): CompactionPlan | undefined {
  const groups = groupMessages(messages, tokens);
  const question = groups.findLast((group) => group.user === 'asks');
  const turns = startOfTurn(groups, keepTurns);
  const fitting = Math.min(fitNewest(groups, { tokens: room, messages: Infinity }), groups.length - 1);
  const tail = Math.max(turns, fitting);
  const inRange = (group: Group): boolean =>
    messages.slice(group.start, group.end).every(({ seq }) => seq >= range![0] && seq <= range![1]);
  const taken = groups.filter(
    (group, i) => !group.durable && (range ? inRange(group) : i < tail && group !== question),
  );
  if (taken.every((group) => group.kind === 'summary')) return undefined;
  const covered = taken.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i));
  const gone = new Set(covered);
  const keep: CompactionPlan['keep'] = [];
  for (const position of messages.keys()) {
    if (gone.has(position)) continue;
    const last = keep.at(-1);
    if (last?.[1] === position - 1) last[1] = position;
    else keep.push([position, position]);
  }
  return {
    keep,
    at: keep.filter(([, last]) => last < covered[0]!).length,
    covered,
    entries: [messages[covered[0]!]!.seq, messages[covered.at(-1)!]!.seq],
    tokens: taken.reduce((sum, group) => sum + group.tokens, 0),
  };
}

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

Leave out greetings, repetitions, and what no longer matters. Add nothing that the messages do not say, and present no assumption as a fact.

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
