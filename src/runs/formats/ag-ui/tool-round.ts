import type { Json, ToolCall } from '../../../agent/context/message.ts';
import { toAgUiContent } from './content.ts';
import type { AgUiEvent } from './event.ts';
import { toToolCall } from './history.ts';
import { toolCallIdOf, toolMessageIdOf, type AgUiMessage, type AgUiToolMessage } from './message.ts';

/** The tool calls of a run's last message, and which of their results the client has. */
export class ToolRound {
  #messageId = '';
  /** Calls without a result in the log. */
  #calls: { index: number; answered: boolean }[] = [];

  /** A message with its calls; one without calls ends the round. */
  *begin(messageId: string, calls: readonly ToolCall[]): Generator<AgUiEvent> {
    this.#messageId = messageId;
    this.#calls = calls.map((_, index) => ({ index, answered: false }));
    for (const [index, call] of calls.entries()) {
      const { id: toolCallId, function: called } = toToolCall(toolCallIdOf(messageId, index), call);
      yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: called.name, parentMessageId: messageId };
      yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: called.arguments };
      yield { type: 'TOOL_CALL_END', toolCallId };
    }
  }

  get open(): boolean {
    return this.#calls.length > 0;
  }

  /** The id of a call; undefined if the conversation does not have it. */
  toolCallId(index: number): string | undefined {
    return this.#calls.some((call) => call.index === index) ? toolCallIdOf(this.#messageId, index) : undefined;
  }

  /** The call that an event is about, as the client knows it. */
  parentOf(index: number): { parentToolCallId?: string; parentMessageId?: string } {
    const parentToolCallId = this.toolCallId(index);
    return parentToolCallId === undefined ? {} : { parentToolCallId, parentMessageId: this.#messageId };
  }

  /** The client has the results of these calls already. */
  answered(toolCallIds: ReadonlySet<string>): void {
    for (const call of this.#calls) call.answered ||= toolCallIds.has(toolCallIdOf(this.#messageId, call.index));
  }

  /** The result of the next call in the log, where results are in the order of their calls. @param id from a client */
  *next(content: Json, id?: string): Generator<AgUiEvent> {
    const call = this.#calls.shift();
    if (!call || call.answered) return;
    const toolCallId = toolCallIdOf(this.#messageId, call.index);
    yield toResult({ id: id ?? toolMessageIdOf(toolCallId), toolCallId, content: toAgUiContent(content) });
  }

  /** Whether the client lacks the result of a call. */
  lacks(index: number): boolean {
    return this.#calls.some((call) => call.index === index && !call.answered);
  }

  /** Results that only the ledger has so far. @param messages of the conversation */
  *early(messages: readonly AgUiMessage[]): Generator<AgUiEvent> {
    for (const call of this.#calls) {
      const toolCallId = toolCallIdOf(this.#messageId, call.index);
      const result = messages.find((message) => message.role === 'tool' && message.toolCallId === toolCallId);
      if (call.answered || !result) continue;
      call.answered = true;
      yield toResult(result as AgUiToolMessage);
    }
  }
}

const toResult = ({ id: messageId, toolCallId, content }: Omit<AgUiToolMessage, 'role'>): AgUiEvent => ({
  ...{ type: 'TOOL_CALL_RESULT', messageId, toolCallId, role: 'tool', content },
});
