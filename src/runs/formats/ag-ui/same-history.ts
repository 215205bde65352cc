import type { AgUiMessage } from './message.ts';
import { sameJson } from './json-patch.ts';

/**
 * Whether a client has the conversation that the log has. Only what was said counts: clients may drop reasoning and have
 * instructions and activities of their own, and name the results of their tools themselves.
 *
 * @param complete false: `logged` begins later than the conversation
 */
export function hasHistory(client: readonly AgUiMessage[], logged: readonly AgUiMessage[], complete: boolean): boolean {
  const theirs = inOrder(client.flatMap(said));
  const ours = inOrder(logged.flatMap(said));
  if (complete ? theirs.length !== ours.length : theirs.length < ours.length) return false;
  const from = theirs.length - ours.length;
  return ours.every((message, at) => sameJson(message, theirs[from + at]));
}

interface Said {
  id?: string;
  /** Of the result of a call. */
  toolCallId?: string;
  content: unknown;
  calls?: object[];
}

/** Results in the order of their calls: a client may have its own before those of the server. */
function inOrder(messages: Said[]): Said[] {
  for (let from = 0; from < messages.length; from++) {
    let to = from;
    while (messages[to]?.toolCallId !== undefined) to += 1;
    const results = messages.slice(from, to).toSorted((a, b) => (a.toolCallId! < b.toolCallId! ? -1 : 1));
    messages.splice(from, results.length, ...results);
    from = Math.max(from, to - 1);
  }
  return messages;
}

function said(message: AgUiMessage): Said[] {
  const { id, role } = message;
  if (role === 'user') return [{ id, content: message.content }];
  if (role === 'tool') return [{ toolCallId: message.toolCallId, content: message.content }];
  if (role !== 'assistant') return [];
  const calls = (message.toolCalls ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, args }));
  return [{ id, content: message.content ?? '', calls }];
}
