import type { Message, Json, JsonObject } from '../context/message.ts';

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

/**
 * A range of entries left out of a request, as `refs.dropped` stores it: first and last `seq`, inclusive. For an anchor
 * dropped in part: its `seq` twice, then its first and last dropped message, from 0.
 */
export type DroppedRange = [from: number, to: number] | [anchor: number, anchor: number, first: number, last: number];

/** Whether the refs of an answer say what was left out in the form that readers of refs trust. */
export const hasDroppedRanges = ({ dropped = [], dropped_positions: positions = [] }: JsonObject): boolean =>
  areRanges(dropped, [2, 4]) && areRanges(positions, [2]);

const areRanges = (value: unknown, lengths: readonly number[]): boolean =>
  Array.isArray(value) &&
  value.every(
    (range: unknown) =>
      Array.isArray(range) && lengths.includes(range.length) && range.every((end) => Number.isSafeInteger(end)),
  );

type Place = Pick<PlacedMessage, 'seq' | 'index'>;

/** The cut in force when an answer was given, by its refs. It stays in force while the policy and its limits do not change. */
export const loggedDropped = (refs: JsonObject | null, policyHash: string): readonly DroppedRange[] =>
  refs?.['policy_hash'] === policyHash && Array.isArray(refs?.['dropped'])
    ? (refs['dropped'] as unknown as DroppedRange[])
    : [];

/** Whether a message is in one of the ranges. */
export const isDropped = (ranges: readonly DroppedRange[], { seq, index }: Place): boolean =>
  ranges.some(([from, to, first = 0, last = Infinity]) => seq >= from && seq <= to && index >= first && index <= last);

/**
 * The ranges of the messages that are false in `kept`. Messages that are undefined there neither belong to a range nor
 * break one.
 */
export function droppedRanges(messages: readonly Place[], kept: readonly (boolean | undefined)[]): DroppedRange[] {
  const ranges: DroppedRange[] = [];
  let run: Place[] = [];
  const close = () => {
    ranges.push(...rangesOf(run, messages));
    run = [];
  };
  for (const [i, message] of messages.entries()) {
    if (kept[i] === true) close();
    else if (kept[i] === false) run.push(message);
  }
  close();
  return ranges;
}

function rangesOf(run: readonly Place[], messages: readonly Place[]): DroppedRange[] {
  const first = run[0];
  if (!first) return [];
  const ofFirst = run.filter(({ seq }) => seq === first.seq);
  const whole = ofFirst.length === messages.filter(({ seq }) => seq === first.seq).length;
  if (whole) return [[first.seq, run.at(-1)!.seq]];
  const [next, last] = [run[ofFirst.length], run.at(-1)!];
  return [
    [first.seq, first.seq, first.index, ofFirst.at(-1)!.index],
    ...(next ? [[next.seq, last.seq] as DroppedRange] : []),
  ];
}
