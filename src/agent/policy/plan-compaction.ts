import { startOfTurn } from './cut-groups.ts';
import { fitNewest } from './fit-newest.ts';
import { groupMessages, type Group, type PlacedMessage } from './groups.ts';

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
