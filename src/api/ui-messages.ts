import type { SSEMessage } from 'hono/streaming';
import type { Json, JsonObject, ToolCall } from '../context/message.ts';
import type { StreamItem } from '../streams/stream-item.ts';

/** A chunk of the AI SDK's UI message stream. */
type Chunk = { type: string } & Record<string, unknown>;

/** The header by which the AI SDK's clients recognise the protocol. */
export const uiMessageHeader = ['x-vercel-ai-ui-message-stream', 'v1'] as const;

/** Converts the stream of one run, with its entries, to the AI SDK's UI message stream. */
export async function* toUiMessages(
  items: AsyncIterable<StreamItem>,
  run: { threadId: string; runId: string },
): AsyncGenerator<SSEMessage> {
  const message = new UiMessage(run);
  for await (const item of items) {
    for (const chunk of message.add(item)) yield { data: JSON.stringify(chunk) };
    if (message.over) break;
  }
  yield { data: '[DONE]' };
}

/**
 * One run as one assistant message with the id of the run. In the AI SDK's protocol each model call is a step with its
 * reasoning, text, tool calls and their results.
 */
class UiMessage {
  over = false;
  readonly #run: { threadId: string; runId: string };
  #started = false;
  #inStep = false;
  /** Open text and reasoning parts of the current model call. */
  #open = new Set<string>();
  /** Unanswered tool calls of the current round, with their ids in the message. */
  #calls: { index: number; id: string; shownAs: string }[] = [];
  readonly #usedIds = new Set<string>();

  constructor(run: { threadId: string; runId: string }) {
    this.#run = run;
  }

  *add(item: StreamItem): Generator<Chunk> {
    if (!this.#started) {
      this.#started = true;
      const { threadId, runId } = this.#run;
      yield { type: 'start', messageId: runId, messageMetadata: { thread_id: threadId, run_id: runId } };
    }
    if (item.type === 'llm_delta' || item.type === 'llm_snapshot') {
      if ('thinking' in item) yield* this.#write('reasoning', item.llmCallId, item.thinking);
      if ('text' in item) yield* this.#write('text', item.llmCallId, item.text);
    } else {
      yield* this.#event(item.event.kind, item.event.data, item.entry ?? {});
    }
  }

  *#event(kind: string, data: JsonObject, entry: JsonObject): Generator<Chunk> {
    switch (kind) {
      case 'llm_started':
        if (this.#inStep) return;
        this.#inStep = true;
        yield { type: 'start-step' };
        break;
      case 'llm_retry':
      case 'llm_lost':
        // The next model call restarts the same step.
        if (this.#open.size > 0) yield { type: 'reset-step' };
        this.#open.clear();
        break;
      case 'llm_completed':
        yield* this.#endParts();
        this.#calls = [];
        for (const [index, call] of ((entry['tool_calls'] ?? []) as unknown as ToolCall[]).entries())
          yield this.#call(call, index);
        if (this.#calls.length === 0) yield* this.#endStep();
        break;
      case 'approval_requested': {
        const call = this.#calls.find(({ index }) => index === data['index']);
        if (call) yield { type: 'tool-approval-request', approvalId: approvalId(data), toolCallId: call.shownAs };
        break;
      }
      case 'approval_decided': {
        const reason = data['reason'] === undefined ? {} : { reason: data['reason'] };
        const approved = data['decision'] === 'approved';
        yield { type: 'tool-approval-response', approvalId: approvalId(data), approved, ...reason };
        break;
      }
      case 'tool_completed':
        yield this.#result(data, entry);
        if (this.#calls.length === 0) yield* this.#endStep();
        break;
      case 'input_injected':
        yield {
          type: 'steering-message',
          id: String(data['input_id'] ?? data['seq']),
          parts: [{ type: 'text', text: toText(entry['content'] ?? '') }],
        };
        break;
      case 'request_completed':
        // A run that reached its limit ends with a sentence that is not in the log.
        if (data['termination_reason'] === 'max_iterations' && typeof data['result'] === 'string')
          yield* this.#write('text', 'result', data['result']);
        yield* this.#endParts();
        yield* this.#end({ type: 'finish', finishReason: 'stop', messageMetadata: this.#spent(data) });
        break;
      case 'request_failed': {
        const error = Object(data['error']) as JsonObject;
        yield* this.#endParts();
        yield* this.#end({ type: 'error', errorText: toText(error['message'] ?? data['error_type'] ?? 'failed') });
        break;
      }
      case 'request_cancelled':
        yield* this.#endParts();
        yield* this.#end({ type: 'abort', reason: toText(data['reason'] ?? 'cancelled') });
        break;
    }
  }

  *#write(type: 'text' | 'reasoning', callId: string, text: string): Generator<Chunk> {
    if (text === '') return;
    const part = `${type} ${callId}`;
    const id = `${callId}.${type}`;
    if (!this.#open.has(part)) yield { type: `${type}-start`, id };
    this.#open.add(part);
    yield { type: `${type}-delta`, id, delta: text };
  }

  *#endParts(): Generator<Chunk> {
    for (const part of this.#open) {
      const [type, callId] = part.split(' ');
      yield { type: `${type}-end`, id: `${callId}.${type}` };
    }
    this.#open.clear();
  }

  *#endStep(): Generator<Chunk> {
    if (this.#inStep) yield { type: 'finish-step' };
    this.#inStep = false;
  }

  *#end(last: Chunk): Generator<Chunk> {
    yield* this.#endStep();
    yield last;
    this.over = true;
  }

  /** A model may reuse a call id, but ids must be unique within the message. */
  #call({ id, name, arguments: input }: ToolCall, index: number): Chunk {
    let shownAs = id;
    for (let n = 2; this.#usedIds.has(shownAs); n++) shownAs = `${id}#${n}`;
    this.#usedIds.add(shownAs);
    this.#calls.push({ index, id, shownAs });
    return { type: 'tool-input-available', toolCallId: shownAs, toolName: name, input };
  }

  #result(data: JsonObject, entry: JsonObject): Chunk {
    const at = this.#calls.findIndex((call) => call.id === data['tool_call_id']);
    const [call] = at < 0 ? [] : this.#calls.splice(at, 1);
    const toolCallId = call?.shownAs ?? data['tool_call_id'];
    const content = entry['content'] ?? '';
    if (data['status'] === 'ok') return { type: 'tool-output-available', toolCallId, output: toOutput(content) };
    if (data['status'] === 'denied') return { type: 'tool-output-denied', toolCallId };
    const { error } = Object(toOutput(content)) as { error?: { message?: string } };
    return { type: 'tool-output-error', toolCallId, errorText: error?.message ?? toText(content) };
  }

  #spent({ usage, termination_reason }: JsonObject): JsonObject {
    const { threadId, runId } = this.#run;
    return {
      thread_id: threadId,
      run_id: runId,
      ...(usage ? { usage } : {}),
      ...(termination_reason ? { termination_reason } : {}),
    };
  }
}

/** The call's name in the API: `/tool-calls/{round}.{index}/approve`. */
const approvalId = (data: JsonObject): string => `${String(data['round'])}.${String(data['index'])}`;

const toText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A tool result as the tool returned it: JSON is parsed, other text stays text. */
function toOutput(content: Json): Json {
  if (typeof content !== 'string') return content;
  try {
    return JSON.parse(content) as Json;
  } catch {
    return content;
  }
}
