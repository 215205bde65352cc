import type { AgUiMessage } from './message.ts';

/** Half of what a request may have: clients send the whole conversation back, and more with it. */
const mostBytes = 2 * 1024 * 1024;
const mostValues = 25_000;

/**
 * The newest turns of a conversation that a client can send back: a turn begins with a message of the user. At least the
 * last one, whatever its size.
 */
export function newestTurns(messages: AgUiMessage[]): { messages: AgUiMessage[]; complete: boolean } {
  let bytes = 0;
  let values = 0;
  let from = messages.length;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!;
    bytes += Buffer.byteLength(JSON.stringify(message));
    values += valuesIn(message);
    if (from < messages.length && (bytes > mostBytes || values > mostValues)) break;
    if (message.role === 'user' || at === 0) from = at;
  }
  return { messages: messages.slice(from), complete: from === 0 };
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, child) => sum + valuesIn(child), 1);
}
