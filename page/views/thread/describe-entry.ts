import type { Entry, JsonObject, Message } from '../../api/types.ts';
import { clip } from '../../parts/format.ts';

const maxChars = 90;

/** A short description of an entry that is not a message. */
export interface Description {
  title: string;
  /** Who did it, as far as the log knows. */
  by?: string;
  /** The summary that replaced the messages a compaction covered. */
  summary?: string;
  /** The context of its lane restarts with these messages. */
  anchor?: Message[];
  /** Initially expanded, because the thread has nothing else to show. */
  open?: boolean;
}

export function describeEntry({ kind, payload, refs }: Entry): Description {
  if (kind === 'ai_context_operation') {
    const operation = (payload['operation'] ?? {}) as JsonObject;
    if (operation['type'] !== 'replace') return { title: 'This lane became the active one' };
    const { entries } = (operation['result_context'] ?? {}) as JsonObject;
    const anchor = Array.isArray(entries) ? (entries as unknown as Message[]) : [];
    const messages = `${anchor.length} ${anchor.length === 1 ? 'message' : 'messages'}`;
    if (String(payload['op_id']).startsWith('fork/')) return { title: `Forked with ${messages}`, anchor, open: true };
    const { covered, messages: count } = (operation['meta'] ?? {}) as { covered?: [number, number]; messages?: number };
    const summary = anchor.find(
      (message) => (message as Message & { refs?: JsonObject }).refs?.['kind'] === 'compaction_summary',
    );
    if (covered) {
      const title = `Compacted: entries #${covered[0]} to #${covered[1]}, ${count} messages, are now a summary`;
      return { title, anchor, ...(summary ? { summary: String(summary.content) } : {}) };
    }
    return { title: `Context replaced (${String(operation['reason'])}): ${messages}`, anchor };
  }
  if (kind === 'ai_config_change') {
    const { field, value } = payload;
    const by = actorOf(refs);
    if (field !== 'system_prompt') return { title: `Configuration: ${String(field)} changed`, ...by };
    return {
      title: value === null ? 'System prompt removed' : `System prompt: ${clip(String(value), maxChars)}`,
      ...by,
    };
  }
  if (kind === 'ai_state_change') return { title: 'Tools changed the state' };
  return { title: kind };
}

/** Many changes have no author: those by programs that name none, and those of a fork. */
function actorOf({ by, source, agent }: JsonObject): { by?: string } {
  if (source === 'agent') return { by: `from the agent ${String(agent)}` };
  return by === undefined ? {} : { by: `by ${String(by)}` };
}
