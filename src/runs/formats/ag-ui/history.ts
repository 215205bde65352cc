import { textOf, type Json, type JsonObject, type Message, type ToolCall } from '../../../agent/context/message.ts';
import type { ConversationEntry, WaitingQuestion } from '../../../database/store/log/read-conversation.ts';
import { questionId, textOrJson } from '../ui-messages/message.ts';
import { clientIdIn, fromQuestion, toAgUiContent } from './content.ts';
import {
  messageIdOf,
  reasoningIdOf,
  toolCallIdOf,
  toolMessageIdOf,
  type AgUiMessage,
  type AgUiToolCall,
  type AgUiUserMessage,
} from './event.ts';
import { sameJson } from './nodes.ts';

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
  id: clientIdIn(refs) ?? toolMessageIdOf(toolCallId),
  role: 'tool',
  toolCallId,
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
  id,
  type: 'function',
  function: { name: call.name, arguments: call.arguments_raw ?? JSON.stringify(call.arguments) },
});

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
