import { wordOf } from '../../../base/checks/values.ts';
import { cutReason, type AnswerCut } from '../../../agent/context/fold.ts';
import type { Json, JsonObject, ToolCall } from '../../../agent/context/message.ts';
import type { RunEventKind } from '../../../agent/strategies/records.ts';
import { hasResult, type StreamItem } from '../../streams/stream.ts';
import { callName } from '../../../base/checks/call-name.ts';
import {
  toContentParts,
  toErrorText,
  toOutput,
  textOrJson,
  UniqueIds,
  type AnswerMetadata,
  type UiChunk,
} from './message.ts';

/** The header by which the AI SDK's clients recognise the protocol. */
export const uiMessageHeader = ['x-vercel-ai-ui-message-stream', 'v1'] as const;

/** Converts the stream of one run, with its entries, to the AI SDK's UI message stream. */
export async function* toUiChunks(
  items: AsyncIterable<StreamItem>,
  run: { threadId: string; runId: string },
): AsyncGenerator<UiChunk> {
  const answer = new UiAnswer(run);
  for await (const item of items) {
    yield* answer.add(item);
    if (answer.over) return;
  }
}

/** A tool call as the ledger records it. */
interface LedgerCall {
  round: number;
  index: number;
  status: string;
  result: Json;
}

/**
 * One run as one assistant message with the id of the run. In the AI SDK's protocol each model call is a step with its
 * reasoning, text, tool calls and their results.
 */
export class UiAnswer {
  over = false;
  readonly #run: { threadId: string; runId: string };
  #started = false;
  #inStep = false;
  /** Open text and reasoning parts of the current model call. */
  #open = new Set<string>();
  /** Unanswered tool calls of the current round, with their ids in the message. */
  #calls: { index: number; id: string; shownAs: string }[] = [];
  /** The round of the calls that wait for approval. */
  #round = 0;
  /** How the last answer of the model was cut. */
  #cut: AnswerCut['reason'] | undefined;
  readonly #ids = new UniqueIds();

  constructor(run: { threadId: string; runId: string }) {
    this.#run = run;
  }

  *add(item: StreamItem): Generator<UiChunk> {
    // the protocol has no chunk for it, and it no longer holds once a worker starts
    if (item.type === 'unattended') return;
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

  *#event(kind: RunEventKind, data: JsonObject, entry: JsonObject): Generator<UiChunk> {
    yield* this.#modelEvent(kind, data, entry);
    yield* this.#toolEvent(kind, data, entry);
    yield* this.#endEvent(kind, data);
  }

  *#modelEvent(kind: RunEventKind, data: JsonObject, entry: JsonObject): Generator<UiChunk> {
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
        this.#cut = cutReason(data['finish_reason']);
        this.#calls = [];
        for (const [index, call] of ((entry['tool_calls'] ?? []) as unknown as ToolCall[]).entries())
          yield this.#call(call, index);
        if (this.#calls.length === 0) yield* this.#endStep();
        break;
    }
  }

  *#toolEvent(kind: RunEventKind, data: JsonObject, entry: JsonObject): Generator<UiChunk> {
    switch (kind) {
      case 'approval_requested': {
        this.#round = Number(data['round']);
        const call = this.#calls.find(({ index }) => index === data['index']);
        if (call)
          yield {
            type: 'tool-approval-request',
            approvalId: callName(data),
            toolCallId: call.shownAs,
          };
        break;
      }
      case 'approval_decided': {
        const reason = data['reason'] === undefined ? {} : { reason: data['reason'] };
        const approved = data['decision'] === 'approved';
        yield {
          type: 'tool-approval-response',
          approvalId: callName(data),
          approved,
          ...reason,
        };
        break;
      }
      case 'tool_completed':
        yield this.#result(data, entry);
        if (this.#calls.length === 0) yield* this.#endStep();
        break;
      case 'input_injected':
        yield {
          type: 'steering-message',
          id: wordOf(data['input_id'] ?? data['seq']),
          parts: toContentParts(entry['content'] ?? ''),
        };
        break;
    }
  }

  *#endEvent(kind: RunEventKind, data: JsonObject): Generator<UiChunk> {
    switch (kind) {
      case 'request_completed':
        yield* this.#endParts();
        yield* this.#end({
          type: 'finish',
          finishReason: this.#cut ? uiReasons[this.#cut] : hasResult(data) ? 'stop' : 'other',
          messageMetadata: this.#metadata(data),
        });
        break;
      case 'request_failed': {
        const { type, message } = Object(data['error']) as JsonObject;
        const error = {
          type: textOrJson(type ?? data['error_type'] ?? 'error'),
          message: textOrJson(message ?? 'failed'),
        };
        yield* this.#endParts();
        yield { type: 'message-metadata', messageMetadata: this.#metadata(data, error) };
        yield* this.#end({ type: 'error', errorText: error.message });
        break;
      }
      case 'request_cancelled': {
        const reason = textOrJson(data['reason'] ?? 'cancelled');
        yield* this.#endParts();
        yield {
          type: 'message-metadata',
          messageMetadata: this.#metadata(data, { type: 'cancelled', message: reason }),
        };
        yield* this.#end({ type: 'abort', reason });
        break;
      }
    }
  }

  /**
   * Ends the message while the run waits for approval, as the AI SDK's own servers do: its client sends the responses
   * once it has them all and the round's other calls have results, which reach the log only when the round ends.
   */
  *suspend(calls: LedgerCall[]): Generator<UiChunk> {
    for (const { index, shownAs } of this.#calls) {
      const call = calls.findLast((of) => of.index === index && of.round === this.#round);
      if (call && call.result !== null) yield toResult(shownAs, call.status, call.result);
    }
    yield* this.#end({ type: 'finish', finishReason: 'tool-calls', messageMetadata: this.#metadata({}) });
  }

  *#write(type: 'text' | 'reasoning', callId: string, text: string): Generator<UiChunk> {
    if (text === '') return;
    const part = `${type} ${callId}`;
    const id = `${callId}.${type}`;
    if (!this.#open.has(part)) yield { type: `${type}-start`, id };
    this.#open.add(part);
    yield { type: `${type}-delta`, id, delta: text };
  }

  *#endParts(): Generator<UiChunk> {
    for (const part of this.#open) {
      const [type, callId] = part.split(' ');
      yield { type: `${type}-end`, id: `${callId}.${type}` };
    }
    this.#open.clear();
  }

  *#endStep(): Generator<UiChunk> {
    if (this.#inStep) yield { type: 'finish-step' };
    this.#inStep = false;
  }

  *#end(last: UiChunk): Generator<UiChunk> {
    yield* this.#endStep();
    yield last;
    this.over = true;
  }

  #call({ id, name, arguments: input }: ToolCall, index: number): UiChunk {
    const shownAs = this.#ids.shown(id);
    this.#calls.push({ index, id, shownAs });
    return { type: 'tool-input-available', toolCallId: shownAs, toolName: name, input };
  }

  #result(data: JsonObject, entry: JsonObject): UiChunk {
    const at = this.#calls.findIndex((call) => call.id === data['tool_call_id']);
    const [call] = at < 0 ? [] : this.#calls.splice(at, 1);
    return toResult(call?.shownAs ?? wordOf(data['tool_call_id']), data['status'], entry['content'] ?? '');
  }

  #metadata({ usage, termination_reason: reason }: JsonObject, error?: AnswerMetadata['error']): AnswerMetadata {
    const { threadId, runId } = this.#run;
    return {
      thread_id: threadId,
      run_id: runId,
      ...(usage ? { usage } : {}),
      ...(typeof reason === 'string' ? { termination_reason: reason } : {}),
      ...(this.#cut && reason !== undefined ? { truncated: true as const } : {}),
      ...(error ? { error } : {}),
    };
  }
}

const uiReasons = { length: 'length', content_filter: 'content-filter' } as const;

function toResult(toolCallId: string, status: unknown, content: Json): UiChunk {
  if (status === 'ok') return { type: 'tool-output-available', toolCallId, output: toOutput(content) };
  if (status === 'denied') return { type: 'tool-output-denied', toolCallId };
  return { type: 'tool-output-error', toolCallId, errorText: toErrorText(content) };
}
