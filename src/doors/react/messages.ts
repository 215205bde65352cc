import type { Content, UiMessage } from '../client/operations.ts';
import type { LiveAnswers } from './live-text.ts';

/** A message of a conversation, as the AI SDK has it. */
export interface ThreadMessage extends UiMessage {
  /** The server has not confirmed it yet. */
  pending?: boolean;
}

/** The message that shows what the user has just sent. Its id is that of the request, as in the history. */
export const sentMessage = (requestId: string, input: Content): ThreadMessage => ({
  ...{ id: requestId, role: 'user', pending: true },
  parts: typeof input === 'string' ? [{ type: 'text', text: input }] : (input as UiMessage['parts']),
});

/** The messages that were known, with the newest of the server in their places or at the end. */
export function merged(known: readonly ThreadMessage[], newest: readonly UiMessage[]): ThreadMessage[] {
  const first = known.findIndex(({ id }) => newest.some((message) => message.id === id));
  const before = first < 0 ? known : known.slice(0, first);
  return [...before, ...newest];
}

/** What a page shows: the history, what was sent since, and the answers in progress. */
export function shown(
  history: readonly ThreadMessage[],
  sent: readonly ThreadMessage[],
  answers: LiveAnswers,
): ThreadMessage[] {
  const messages = [...history, ...sent.filter(({ id }) => !history.some((message) => message.id === id))];
  for (const { runId, text, thinking } of answers.values()) {
    const parts: UiMessage['parts'] = [
      ...(thinking === '' ? [] : [{ type: 'reasoning', text: thinking, state: 'streaming' }]),
      ...(text === '' ? [] : [{ type: 'text', text, state: 'streaming' }]),
    ];
    const at = messages.findIndex(({ id }) => id === runId);
    if (at < 0) messages.push({ id: runId, role: 'assistant', parts });
    else messages[at] = { ...messages[at]!, parts: [...messages[at]!.parts, ...parts] };
  }
  return messages;
}
