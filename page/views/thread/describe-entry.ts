import type { Entry, JsonObject, Message } from '../../api/types.ts';

/** An entry that is no message, in a few words. */
export interface Description {
  title: string;
  /** The context of its lane starts anew there, with these messages. */
  anchor?: Message[];
  /** What it begins with is all there is to see of the thread. */
  open?: boolean;
}

export function describeEntry({ kind, payload }: Entry): Description {
  if (kind === 'ai_context_operation') {
    const operation = (payload['operation'] ?? {}) as JsonObject;
    if (operation['type'] !== 'replace') return { title: 'This lane became the active one' };
    const { entries } = (operation['result_context'] ?? {}) as JsonObject;
    const anchor = Array.isArray(entries) ? (entries as unknown as Message[]) : [];
    const messages = `${anchor.length} ${anchor.length === 1 ? 'message' : 'messages'}`;
    if (String(payload['op_id']).startsWith('fork/')) return { title: `Forked with ${messages}`, anchor, open: true };
    return { title: `Context replaced (${String(operation['reason'])}): ${messages}`, anchor };
  }
  if (kind === 'ai_config_change') {
    const { field, value } = payload;
    if (field !== 'system_prompt') return { title: `Configuration: ${String(field)} changed` };
    return { title: value === null ? 'System prompt removed' : `System prompt: ${clip(String(value))}` };
  }
  if (kind === 'ai_state_change') return { title: 'Tools changed the state' };
  return { title: kind };
}

const clip = (text: string): string => (text.length > 90 ? `${text.slice(0, 89)}…` : text);
