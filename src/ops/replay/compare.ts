import type { Contexts } from '../../runs/operations/contexts/methods.ts';
import { type ContextRow } from '../../agent/context/fold.ts';
import { canonicalMessage, ContextHash } from '../../agent/context/canonical.ts';
import type { JsonObject, ToolCall } from '../../agent/context/message.ts';
import type { Conversation } from './recording.ts';
import canonicalize from 'canonicalize';
import { parseObject } from '../../agent/models/parts.ts';
import type { RecordedMessage } from './messages.ts';

interface Checked {
  /** Number of turns and tool messages in the log. */
  modelCalls: number;
  toolCalls: number;
  mismatches: Mismatch[];
}

/**
 * Checks that SQL shows what the model saw: compares the projection with the recorded conversation, and the
 * `context_hash` of every turn with the projection up to that turn.
 */
export async function checkThread(contexts: Contexts, thread: string, conversation: Conversation): Promise<Checked> {
  const rows = await contexts.project(thread);
  const mismatches: Mismatch[] = [];
  const expected = conversation.messages.map((message, index) => ({ index, message: toComparable(message) }));
  const difference = firstDifference(expected, rows.map(fromRow));
  if (difference) mismatches.push({ thread, at: 'lane_context', ...difference });

  const hash = new ContextHash();
  for (const [message, row] of rows.entries()) {
    const sent = (row.refs as JsonObject | null)?.['context_hash'];
    if (row.role === 'assistant' && sent !== hash.digest()) {
      const received = typeof sent === 'string' ? sent : '(none)';
      mismatches.push({
        thread,
        at: 'context_hash',
        message,
        field: 'context_hash',
        expected: hash.digest(),
        received,
      });
    }
    hash.push(canonicalMessage(row));
  }
  return { modelCalls: count(rows, 'assistant'), toolCalls: count(rows, 'tool'), mismatches };
}

const count = (rows: ContextRow[], role: string): number => rows.filter((row) => row.role === role).length;

function fromRow(row: ContextRow): Comparable {
  const calls = (row.tool_calls ?? []) as unknown as ToolCall[];
  return {
    role: row.role,
    content: comparableText(row.content),
    calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: canonical(call.arguments) })),
    ...(row.role === 'tool' ? { toolCallId: row.tool_call_id ?? '', name: row.name ?? '' } : {}),
  };
}

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
const comparableText = (content: unknown): string => (typeof content === 'string' ? content : canonical(content));

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

/** A failed comparison. */
export interface Mismatch extends Difference {
  thread: string;
  /**
   * Which comparison failed: a model call, `lane_context` after the replay, a stored `context_hash`, or the end of a
   * run.
   */
  at: 'model_call' | 'lane_context' | 'context_hash' | 'run';
}

/** Counts all mismatches and keeps the first few. */
export class Mismatches {
  count = 0;
  readonly first: Mismatch[] = [];

  constructor(readonly keep = 20) {}

  add(mismatch: Mismatch): void {
    this.count += 1;
    if (this.first.length < this.keep) this.first.push(mismatch);
  }
}

/** Two lines that show both texts from shortly before they differ. */
function diffLines({ expected, received }: Difference, width = 80): string[] {
  let same = 0;
  while (same < expected.length && expected[same] === received[same]) same++;
  const from = Math.max(0, same - 20);
  const cut = (text: string) =>
    (from > 0 ? '…' : '') + JSON.stringify(text.slice(from, from + width)) + (text.length > from + width ? '…' : '');
  return [`- ${cut(expected)}`, `+ ${cut(received)}`];
}

/** The result of a replay. `modelCalls` and `toolCalls` are counted in the log afterwards. */
export interface ReplayReport {
  threads: number;
  runs: number;
  modelCalls: number;
  toolCalls: number;
  mismatches: number;
  runsPerSecond: number;
  elapsedMs: number;
  queue: 'redis' | 'postgres';
  concurrency: number;
  firstMismatches: Mismatch[];
}

/** The report as JSON. */
export const reportJson = (report: ReplayReport) => ({
  threads: report.threads,
  runs: report.runs,
  model_calls: report.modelCalls,
  tool_calls: report.toolCalls,
  mismatches: report.mismatches,
  runs_per_s: Number(report.runsPerSecond.toFixed(1)),
  elapsed_ms: report.elapsedMs,
  queue: report.queue,
  concurrency: report.concurrency,
  first_mismatches: report.firstMismatches,
});

/** The report as text: the figures, then the first few mismatches. */
export function reportLines(report: ReplayReport, show = 5): string[] {
  const figures = Object.entries(reportJson(report)).flatMap(([key, value]) =>
    typeof value === 'object' ? [] : [`${key.padEnd(12)} ${value}`],
  );
  const shown = report.firstMismatches.slice(0, show).flatMap(mismatchLines);
  const more = report.mismatches - Math.min(show, report.firstMismatches.length);
  return [...figures, ...shown, ...(shown.length > 0 && more > 0 ? [`… and ${more} more`] : [])];
}

const mismatchLines = (mismatch: Mismatch): string[] => [
  '',
  `${mismatch.thread}, message ${mismatch.message}, in ${mismatch.at}: ${mismatch.field} differs (- recorded, + replayed)`,
  ...diffLines(mismatch).map((line) => `  ${line}`),
];
