import type { AgUiMessage } from './message.ts';
import { sameJson } from './json-patch.ts';

/**
 * Whether a client has the conversation that the log has. Only what was said counts: clients may drop reasoning and have
 * instructions and activities of their own, and name the results of their tools themselves.
 *
 * @param complete false: `logged` begins later than the conversation
 */
export function hasHistory(client: readonly AgUiMessage[], logged: readonly AgUiMessage[], complete: boolean): boolean {
  const theirs = client.flatMap(said);
  const ours = logged.flatMap(said);
  if (complete ? theirs.length !== ours.length : theirs.length < ours.length) return false;
  const from = theirs.length - ours.length;
  return ours.every((message, at) => sameJson(message, theirs[from + at]));
}

function said(message: AgUiMessage): object[] {
  const { id, role } = message;
  if (role === 'user') return [{ id, content: message.content }];
  if (role === 'tool') return [{ toolCallId: message.toolCallId, content: message.content }];
  if (role !== 'assistant') return [];
  const calls = (message.toolCalls ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, args }));
  return [{ id, content: message.content ?? '', calls }];
}
