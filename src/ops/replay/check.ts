import type { Contexts } from '../../runs/operations/contexts/contexts.ts';
import { canonicalMessage, ContextHash } from '../../agent/context/canonical.ts';
import type { ContextRow } from '../../agent/context/fold.ts';
import type { JsonObject, ToolCall } from '../../agent/context/message.ts';
import { canonical, firstDifference, toComparable, comparableText, type Comparable } from './compare.ts';
import type { Mismatch } from './mismatch.ts';
import type { Conversation } from './recording.ts';

export interface Checked {
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
