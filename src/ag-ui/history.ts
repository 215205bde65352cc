import { textOf, type Json, type JsonObject, type Message, type ToolCall } from '../context/message.ts';
import type { ConversationEntry, WaitingQuestion } from '../store/log/read-conversation.ts';
import { questionId } from '../ui-messages/message.ts';
import { textOrJson } from '../ui-messages/parts.ts';
import { fromQuestion, toAgUiContent } from './content.ts';
import {
  messageIdOf,
  reasoningIdOf,
  toolCallIdOf,
  toolMessageIdOf,
  type AgUiMessage,
  type AgUiToolCall,
  type AgUiUserMessage,
} from './message.ts';

/** A user message of the log, and the run that answers it. */
export interface AgUiQuestion {
  runId: string | null;
  requestId: string | null;
  message: AgUiUserMessage;
}

/**
 * A lane as the protocol's messages: the same that a client has after it has read the stream of each run. The calls of
 * an unfinished round have the results that the ledger has.
 */
export function toAgUiMessages(
  entries: readonly ConversationEntry[],
  waiting: readonly WaitingQuestion[],
): { messages: AgUiMessage[]; questions: AgUiQuestion[] } {
  const messages: AgUiMessage[] = [];
  const questions: AgUiQuestion[] = [];
  const ask = (question: AgUiQuestion) => {
    questions.push(question);
    messages.push(question.message);
  };
  let open: OpenCall[] = [];
  const closeRound = () => {
    for (const { id, result } of open) if (result !== null) messages.push(toolMessage(id, result));
    open = [];
  };
  for (const entry of entries) {
    const { seq, role, runId, requestId, payload, refs } = entry;
    const content = payload['content'];
    if (role === 'tool') {
      const call = open.shift();
      if (call) messages.push(toolMessage(call.id, content));
      continue;
    }
    closeRound();
    if (role === 'assistant') {
      const id = messageIdOf(refs['llm_call_id'], seq);
      const calls = (payload['tool_calls'] ?? []) as unknown as ToolCall[];
      messages.push(...toAnswer(id, payload, calls));
      const resultOf = (at: number) => entry.calls?.find(({ index }) => index === at)?.result ?? null;
      open = calls.map((_, index) => ({ id: toolCallIdOf(id, index), result: resultOf(index) }));
    } else if (refs['kind'] === 'steer' || refs['kind'] === 'inject') {
      messages.push({ id: textOrJson(refs['input_id'] ?? seq), role: 'user', content: toAgUiContent(content) });
    } else if (refs['kind'] === undefined || runId === null) {
      const id = runId === null ? messageIdOf(undefined, seq) : questionId(runId, requestId);
      ask({ runId, requestId, message: fromQuestion(content, refs, id) });
    }
  }
  closeRound();
  const asked = new Set(questions.map(({ runId }) => runId));
  for (const { runId, requestId, content, refs } of waiting) {
    // claimed after the questions that wait were read
    if (asked.has(runId)) continue;
    ask({ runId, requestId, message: fromQuestion(content, refs, questionId(runId, requestId)) });
  }
  return { messages, questions };
}

interface OpenCall {
  id: string;
  /** While it is in the ledger only. */
  result: Json;
}

const toolMessage = (toolCallId: string, content: Json | undefined): AgUiMessage => ({
  ...{ id: toolMessageIdOf(toolCallId), role: 'tool', toolCallId },
  content: toAgUiContent(content),
});

/** The reasoning and the message of a model call; a call that said nothing leaves no message. */
function* toAnswer(id: string, payload: JsonObject, calls: readonly ToolCall[]): Generator<AgUiMessage> {
  const thinking = thinkingOf(payload);
  if (thinking !== '') yield { id: reasoningIdOf(id), role: 'reasoning', content: thinking };
  const text = answerText(payload);
  if (text === '' && calls.length === 0) return;
  const toolCalls = calls.map((call, index) => toToolCall(toolCallIdOf(id, index), call));
  yield {
    id,
    role: 'assistant',
    ...(text === '' ? {} : { content: text }),
    ...(calls.length > 0 ? { toolCalls } : {}),
  };
}

export const thinkingOf = ({ thinking }: JsonObject): string => (typeof thinking === 'string' ? thinking : '');

/** The text of an assistant message. */
export const answerText = ({ content }: JsonObject): string => textOf((content ?? '') as Message['content']);

export const toToolCall = (id: string, call: ToolCall): AgUiToolCall => ({
  ...{ id, type: 'function' },
  function: { name: call.name, arguments: call.arguments_raw ?? JSON.stringify(call.arguments) },
});
