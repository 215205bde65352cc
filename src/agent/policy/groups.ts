import type { Message } from '../context/message.ts';

/** A message of a lane with its place in the log. */
export interface PlacedMessage {
  message: Message;
  /** `seq` of its entry; messages of an anchor have the `seq` of the anchor. */
  seq: number;
  /** Position among the messages with the same `seq`, from 0; only an anchor has several. */
  index: number;
  /** `refs.kind`, if the runtime wrote one. */
  mark?: string | undefined;
}

export type ContextGroupKind = 'system' | 'summary' | 'message' | 'tool_group';

/**
 * Messages that are kept or dropped together: an assistant message with the results of its calls, or a single message.
 */
export interface Group {
  kind: ContextGroupKind;
  /** Index of the first message. */
  start: number;
  /** Index after the last message. */
  end: number;
  /** `asks`: a user message that begins a turn; `adds`: one that steers a run or asks its next agent; undefined: anything else. */
  user?: 'asks' | 'adds' | undefined;
  /** Whether it holds something a compaction must keep, such as an activated skill. */
  durable: boolean;
  /** Total of its messages. */
  tokens: number;
}

export const summaryMark = 'compaction_summary';
export const durableMark = 'skill_activation';

/**
 * The groups of a context, in order. Results belong to the assistant message before them.
 *
 * @param tokens of each message; default 0
 */
export function groupMessages(messages: readonly PlacedMessage[], tokens: readonly number[] = []): Group[] {
  const groups: Group[] = [];
  for (const [at, { message, mark }] of messages.entries()) {
    const last = groups.at(-1);
    if (message.role === 'tool' && last?.kind === 'tool_group') {
      last.end = at + 1;
      last.durable ||= mark === durableMark;
      last.tokens += tokens[at] ?? 0;
      continue;
    }
    groups.push({
      kind: kindOf(message, mark),
      start: at,
      end: at + 1,
      user: message.role === 'user' ? saidBy(mark) : undefined,
      durable: false,
      tokens: tokens[at] ?? 0,
    });
  }
  return groups;
}

const additions = ['steer', 'inject', 'handoff'];

const saidBy = (mark: string | undefined): Group['user'] =>
  mark === undefined ? 'asks' : additions.includes(mark) ? 'adds' : undefined;

function kindOf(message: Message, mark: string | undefined): ContextGroupKind {
  if (message.role === 'system') return 'system';
  if (mark === summaryMark) return 'summary';
  return message.role === 'tool' || message.tool_calls ? 'tool_group' : 'message';
}
