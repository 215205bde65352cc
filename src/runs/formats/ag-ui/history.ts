import { textOf, type Json, type JsonObject, type Message, type ToolCall } from '../../../agent/context/message.ts';
import type { ConversationEntry, WaitingQuestion } from '../../../database/store/log/read-conversation.ts';
import { questionId } from '../ui-messages/message.ts';
import { textOrJson } from '../ui-messages/parts.ts';
import { clientIdIn, fromQuestion, toAgUiContent } from './content.ts';
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
): { messages: AgUiMessage[]; questions: AgUiQuestion[]; waitingRuns: string[] } {
  const messages: AgUiMessage[] = [];
  const questions: AgUiQuestion[] = [];
  const named = new Set<string>();
  const ask = (of: Omit<AgUiQuestion, 'message'>, content: Json | undefined, refs: JsonObject, fallback: string) => {
    const own = clientIdIn(refs);
    // a run that was retried asks the same question again
    const id = own === undefined || named.has(own) ? fallback : own;
    named.add(id);
    const message = fromQuestion(content, refs, id);
    questions.push({ ...of, message });
    messages.push(message);
  };
  let open: OpenCall[] = [];
  const closeRound = () => {
    for (const { id, result, refs } of open) if (result !== null) messages.push(toolMessage(id, result, refs));
    open = [];
  };
  for (const entry of entries) {
    const { seq, role, runId, requestId, payload, refs } = entry;
    const content = payload['content'];
    if (role === 'tool') {
      const call = open.shift();
      if (call) messages.push(toolMessage(call.id, content, refs));
      continue;
    }
    closeRound();
    if (role === 'assistant') {
      const id = messageIdOf(refs['llm_call_id'], seq);
      const calls = (payload['tool_calls'] ?? []) as unknown as ToolCall[];
      messages.push(...toAnswer(id, payload, calls));
      open = calls.map((_, at) => {
        const { result = null, refs: ofResult = null } = entry.calls?.find(({ index }) => index === at) ?? {};
        return { id: toolCallIdOf(id, at), result, refs: ofResult };
      });
    } else if (refs['kind'] === 'steer' || refs['kind'] === 'inject') {
      messages.push({ id: textOrJson(refs['input_id'] ?? seq), role: 'user', content: toAgUiContent(content) });
    } else if (refs['kind'] === undefined || runId === null) {
      const id = runId === null ? messageIdOf(undefined, seq) : questionId(runId, requestId);
      ask({ runId, requestId }, content, refs, id);
    }
  }
  closeRound();
  const asked = new Set(questions.map(({ runId }) => runId));
  // one that was claimed after the questions that wait were read is in the log
  const behind = waiting.filter(({ runId }) => !asked.has(runId));
  for (const { runId, requestId, content, refs } of behind)
    ask({ runId, requestId }, content, refs, questionId(runId, requestId));
  return { messages, questions, waitingRuns: behind.map(({ runId }) => runId) };
}

interface OpenCall {
  id: string;
  /** While it is in the ledger only. */
  result: Json;
  refs: JsonObject | null;
}

const toolMessage = (toolCallId: string, content: Json | undefined, refs: JsonObject | null): AgUiMessage => ({
  ...{ id: clientIdIn(refs) ?? toolMessageIdOf(toolCallId), role: 'tool', toolCallId },
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
