import type { AnswerMetadata } from '../../runs/formats/ui-messages/message.ts';
import type { Content, UiMessage } from '../client/operations.ts';
import { isTerminal } from '../client/answers.ts';
import type { StreamItem } from '../client/sse.ts';

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

/** The answer of a model call while it is written. */
export interface LiveAnswer {
  runId: string;
  text: string;
  thinking: string;
  /** Whether it is complete, and so in the log. */
  done: boolean;
}

/** The answers in progress, by model call. Each change makes a new map. */
export type LiveAnswers = ReadonlyMap<string, LiveAnswer>;

/** What an item of a stream makes of the answers in progress; the same map if it changes nothing. */
export function withItem(answers: LiveAnswers, item: StreamItem): LiveAnswers {
  if (item.type === 'unattended' || item.type === 'exists') return answers;
  if (item.type === 'event') {
    const { kind, data, runId } = item.event;
    // what it has not completed is not in the log
    if (isTerminal(kind)) return without(answers, (answer) => answer.runId === runId && !answer.done);
    const callId = data['call_id'] as string;
    const answer = answers.get(callId);
    if (!answer) return answers;
    if (kind === 'llm_completed') return new Map(answers).set(callId, { ...answer, done: true });
    return kind === 'llm_retry' || kind === 'llm_lost' ? without(answers, (_, id) => id === callId) : answers;
  }
  const { runId, llmCallId } = item;
  const had = answers.get(llmCallId) ?? { runId, text: '', thinking: '', done: false };
  if (item.type === 'llm_snapshot')
    return new Map(answers).set(llmCallId, { ...had, text: item.text, thinking: item.thinking });
  const more =
    'text' in item
      ? { text: had.text.slice(0, item.offset) + item.text }
      : { thinking: had.thinking.slice(0, item.offset) + item.thinking };
  return new Map(answers).set(llmCallId, { ...had, ...more });
}

/** The answers without those to drop; the same map if there is nothing to drop. */
export function without(answers: LiveAnswers, drop: (answer: LiveAnswer, callId: string) => boolean): LiveAnswers {
  const kept = [...answers].filter(([id, answer]) => !drop(answer, id));
  return kept.length === answers.size ? answers : new Map(kept);
}
