import type { AnswerMetadata } from '../../runs/formats/ui-messages/message.ts';
import type { Content, UiMessage } from '../client/operations.ts';
import type { LiveAnswer } from './live-answers.ts';

/** A message of a conversation, as the AI SDK has it. */
export interface ThreadMessage extends UiMessage {
  /** `versions`: its place among the messages that other branches have here, and a lane of each of them for `select`. */
  metadata?: AnswerMetadata & Record<string, unknown>;
  /** The server has not confirmed it yet. */
  pending?: boolean;
}

/** The message that shows what the user has just sent. Its id is the request's, as in the history. */
export const sentMessage = (requestId: string, input: Content): ThreadMessage => ({
  id: requestId,
  role: 'user',
  pending: true,
  parts: typeof input === 'string' ? [{ type: 'text', text: input }] : (input as UiMessage['parts']),
});

/**
 * The conversation that a change leaves: without the question and what follows, or with the question if it is only answered again.
 * @param messageId the question, or its answer; undefined: the last question
 */
export function before(
  messages: readonly ThreadMessage[],
  messageId: string | undefined,
  keepsQuestion: boolean,
): readonly ThreadMessage[] {
  const named = messageId === undefined ? messages.length - 1 : messages.findIndex(({ id }) => id === messageId);
  const question = messages.findLastIndex(({ role }, at) => role === 'user' && at <= named);
  return question < 0 ? messages : messages.slice(0, question + (keepsQuestion ? 1 : 0));
}

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
  answers: readonly LiveAnswer[],
): ThreadMessage[] {
  const messages = [...history, ...sent.filter(({ id }) => !history.some((message) => message.id === id))];
  for (const { runId, text, thinking } of answers) {
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
