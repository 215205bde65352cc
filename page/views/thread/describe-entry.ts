import type { Entry, JsonObject } from '../../api/types.ts';

/** What an entry that is no message changed, in a few words; `anchor`: the context of its lane starts anew there. */
export function describeEntry({ kind, payload }: Entry): { title: string; anchor: boolean } {
  if (kind === 'ai_context_operation') {
    const operation = (payload['operation'] ?? {}) as JsonObject;
    if (operation['type'] !== 'replace') return { title: 'This lane became the active one', anchor: false };
    const context = (operation['result_context'] ?? {}) as JsonObject;
    const kept = Array.isArray(context['entries']) ? context['entries'].length : 0;
    return { title: `Context replaced (${String(operation['reason'])}): ${kept} messages`, anchor: true };
  }
  if (kind === 'ai_config_change') {
    const { field, value } = payload;
    if (field === 'system_prompt') {
      return {
        title: value === null ? 'System prompt removed' : `System prompt: ${clip(String(value))}`,
        anchor: false,
      };
    }
    return { title: `Configuration: ${String(field)} changed`, anchor: false };
  }
  if (kind === 'ai_state_change') return { title: 'Tools changed the state', anchor: false };
  return { title: kind, anchor: false };
}

const clip = (text: string): string => (text.length > 90 ? `${text.slice(0, 89)}…` : text);
